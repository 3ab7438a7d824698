#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Run modules of rdma-core's own test suite and say of each test whether it
passed or why it did not. Each has a process of its own, which it takes along
if it dies; what all of them need is loaded once, before.

usage: suite.py DEVICE GID-INDEX MODULE...
"""
import importlib
import os
import signal
import sys
import time
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


def run_module(module):
    suite = unittest.defaultTestLoader.loadTestsFromName(f'tests.test_{module}')
    result = Result()
    suite.run(result)
    for _, text in result.errors:
        print(text, file=sys.stderr)
    return not result.wasSuccessful()


def start(module):
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 2
    try:
        status = run_module(module)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        # Objects are destroyed in any order at the end of the interpreter.
        os._exit(status)


def wait(pid):
    """The exit status, as subprocess has it, or None when it is late."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def main(device, gid, *modules):
    sys.path[:0] = [FOLDER, f'{FOLDER}/tests']
    sys.argv[1:] = ['--dev', device, '--gid', gid]
    parser = importlib.import_module('args_parser').parser
    parser.parse_args()
    importlib.import_module('tests.base')
    for module in modules:
        status = wait(start(module))
        if status is None:
            print(f'{module}: ended with status none in {LIMIT} s', flush=True)
        elif status not in (0, 1):
            print(f'{module}: ended with status {status}', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
