#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Run modules of rdma-core's own test suite and say of each test whether it
passed or why it did not. A module that dies takes its process along only.

usage: suite.py DEVICE GID-INDEX MODULE...
"""
import os
import subprocess
import sys
import unittest

FOLDER = '/usr/share/doc/rdma-core'
LIMIT = 300


class Result(unittest.TestResult):
    """One line for each test, written when it is over."""

    def say(self, test, word):
        module, _, name = test.id().removeprefix('tests.test_').partition('.')
        print(f'{module} {name.rpartition(".")[2]}: {word}', flush=True)

    def addSuccess(self, test):
        self.say(test, 'passed')

    def addSkip(self, test, reason):
        self.say(test, f'skipped, {reason}')

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, f'FAILED, {err[1]!r}')

    addFailure = addError


def run_module(device, gid, module):
    sys.path[:0] = [FOLDER, f'{FOLDER}/tests']
    sys.argv[1:] = ['--dev', device, '--gid', gid]
    from args_parser import parser
    parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromName(f'tests.test_{module}')
    result = Result()
    suite.run(result)
    for _, text in result.errors:
        print(text, file=sys.stderr)
    # Objects are destroyed in any order at the end of the interpreter.
    sys.stdout.flush()
    os._exit(not result.wasSuccessful())


def main(device, gid, *modules):
    for module in modules:
        try:
            status = subprocess.run([sys.executable, __file__, '--one', device, gid, module],
                                    timeout=LIMIT, check=False).returncode
        except subprocess.TimeoutExpired:
            status = f'none in {LIMIT} s'
        if status not in (0, 1):
            print(f'{module}: ended with status {status}', flush=True)


if __name__ == '__main__':
    if sys.argv[1] == '--one':
        run_module(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
