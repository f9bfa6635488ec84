"""Open files are pushed to the disk again and again; a forked child leaves its parent's alone."""

from __future__ import annotations

import os
import threading
import warnings

import pytest

from cassettes import syncing
from cassettes.errors import RecordingFailed

PATIENCE = 20.0


class File:
    """A file that tells when it was synced, or forgotten."""

    def __init__(self, error=None):
        self.synced = threading.Event()
        self.forgotten = False
        self.error = error

    def sync(self):
        self.synced.set()
        if self.error is not None:
            raise self.error

    def forget(self):
        self.forgotten = True


@pytest.fixture
def watched(monkeypatch):
    """Watch files, until the test ends; more often than in earnest."""
    monkeypatch.setattr(syncing, "SECONDS", 0.01)
    files = []

    def watch(file):
        files.append(file)
        syncing.watch(file)
        return file

    yield watch
    for file in files:
        syncing.unwatch(file)


def test_a_watched_file_is_synced_again_and_again(watched):
    file = watched(File())
    for _ in range(2):
        assert file.synced.wait(PATIENCE)
        file.synced.clear()


@pytest.mark.parametrize("error", [OSError("disk full"), RecordingFailed("disk full")])
def test_a_file_that_cannot_be_synced_stops_no_other(watched, error):
    broken, sound = watched(File(error)), watched(File())
    assert broken.synced.wait(PATIENCE)
    sound.synced.clear()
    broken.synced.clear()
    assert sound.synced.wait(PATIENCE)
    assert broken.synced.wait(PATIENCE)


def test_one_thread_serves_all_files(watched):
    for _ in range(5):
        watched(File())
    assert sum(thread.name == "trialtape-sync" for thread in threading.enumerate()) == 1


def test_a_closed_file_is_not_synced_any_more(watched):
    closed, open_one = watched(File()), watched(File())
    syncing.unwatch(closed)
    assert open_one.synced.wait(PATIENCE)
    closed.synced.clear()
    open_one.synced.clear()
    assert open_one.synced.wait(PATIENCE)
    assert not closed.synced.is_set()


def test_a_forked_child_forgets_the_files_and_the_parent_does_not(watched):
    file = watched(File())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads, which is what is asked about
        child = os.fork()
    if child == 0:
        os._exit(0 if file.forgotten else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert not file.forgotten
