"""What was tried to bring a dashboard down, and for each the tests that show what happens now."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FAULTS = {
    "1 a small gz that unpacks to gigabytes": (
        "tests/test_odd_input.py::test_a_small_file_does_not_unpack_to_gigabytes",
        "tests/data/test_security.py::test_gzip_that_grows_more_than_text_does",
        "tests/data/test_apart.py::test_what_may_become_large_is_read_apart",
        "tests/data/test_apart.py::test_a_process_that_takes_too_much_or_too_long_is_one_sentence",
    ),
    "2 headers that claim millions of rows and columns": (
        "tests/data/test_security.py::test_rows_and_columns_are_paid_for_by_entries",
        "tests/data/test_security.py::test_docword_header_is_checked_before_the_body",
        "tests/data/test_security.py::test_npy_header_that_claims_more_than_the_file_holds",
    ),
    "3 uploads that nobody asked for, held in memory": (
        "tests/dashboard/test_access.py::test_uploads_are_counted_before_they_are_read",
        "tests/dashboard/test_access.py::test_uploads_on_their_way_count",
    ),
    "4 a disk that is full when a run ends": (
        "tests/jobs/test_engine.py::test_a_result_survives_a_full_disk",
        "tests/jobs/test_engine.py::test_a_cancel_on_a_full_disk_ends_the_run",
        "tests/jobs/test_store.py::test_a_full_disk_keeps_no_half_of_an_upload",
    ),
    "5 damaged bytes in what is stored": (
        "tests/jobs/test_store.py::test_a_damaged_result_is_deleted_and_computed_again",
        "tests/jobs/test_store.py::test_a_file_that_was_damaged_is_said_and_mended_by_giving_it_again",
    ),
    "6 odd fields of NPY, NPZ and ZIP": (
        "tests/data/test_security.py::test_npy_header_of_negative_lengths",
        "tests/data/test_security.py::test_npz_with_anything_in_its_extra_fields",
        "tests/data/test_security.py::test_numbers_of_any_length_in_the_names_of_a_zip",
    ),
    "7 thirty sessions that watch": (
        "tests/dashboard/test_live.py::test_a_curve_that_fills_in_is_drawn_once_for_everybody",
    ),
    "8 a server with nobody there": (
        "tests/jobs/test_engine.py::test_a_process_with_nothing_to_do_is_left_alone",
    ),
    "9 a large upload that holds the store": (
        "tests/jobs/test_store.py::test_who_reads_waits_for_nobody_who_writes",
        "tests/jobs/test_store.py::test_who_writes_waits_for_no_file",
        "tests/jobs/test_store.py::test_a_kill_while_a_file_is_kept_leaves_nothing_that_is_shown_or_counted",
        "tests/jobs/test_store.py::test_a_kill_while_uploads_are_moved_out_of_a_store_of_before_loses_none",
    ),
    "10 files that are refused and kept all the same": (
        "tests/data/test_apart.py::test_a_refused_file_is_mendable_when_a_choice_makes_it_data",
        "tests/dashboard/test_data.py::test_bad_uploads_are_one_sentence_and_nothing_is_lost",
    ),
    "11 a worker that is killed while it starts": (
        "tests/jobs/test_engine.py::test_workers_that_do_not_start_are_started_again",
    ),
    "12 two servers on one store": (
        "tests/jobs/test_engine.py::test_two_servers_on_one_store_share_a_run",
        "tests/jobs/test_engine.py::test_a_second_server_may_end_the_run_of_the_first",
        "tests/jobs/test_store.py::test_a_container_that_is_replaced_does_not_bury_the_next",
    ),
    "13 a link into a workspace of somebody else's making": (
        "tests/dashboard/test_state.py::test_a_workspace_is_one_that_was_issued",
        "tests/browser/test_second_visit.py::test_the_second_visit_goes_on_and_can_start_fresh",
    ),
    "14 pages of others, frames, metrics": (
        "tests/dashboard/test_access.py::test_every_answer_says_what_a_browser_may_do",
        "tests/dashboard/test_access.py::test_only_pages_of_this_server_connect",
        "tests/dashboard/test_access.py::test_measurements_are_handed_out_when_somebody_says_so",
    ),
    "15 a server that anyone on the network can use": (
        "tests/test_start.py::test_who_shares_it_is_told_who_can_use_it",
        "tests/dashboard/test_access.py::test_a_password_is_asked_for_once",
    ),
    "16 a store that is damaged, read-only or full": (
        "tests/dashboard/test_trouble.py::test_trouble_with_the_store_is_said_before_anybody_works",
        "tests/dashboard/test_trouble.py::test_a_store_that_cannot_be_opened_is_said",
        "tests/jobs/test_store.py::test_a_damaged_file_is_found_by_looking",
        "tests/jobs/test_engine.py::test_a_full_disk_is_one_line_in_the_log",
    ),
    "17 results that nobody deletes": (
        "tests/jobs/test_store.py::test_results_make_room_for_newer_ones",
        "tests/dashboard/test_runs.py::test_what_is_kept_is_shown",
    ),
    "18 files that are refused by a sentence that misses the point": (
        "tests/data/test_tables.py::test_what_is_written_for_people_is_named",
        "tests/data/test_security.py::test_a_line_that_never_ends_is_not_split",
        "tests/data/test_security.py::test_links_in_a_zip_are_not_followed",
        "tests/data/test_excel.py::test_hostile_workbooks_are_one_sentence",
        "tests/data/test_parquet.py::test_one_sentence",
    ),
    "a queue that one person fills": (
        "tests/jobs/test_engine.py::test_the_queue_is_fair_between_those_who_ask",
        "tests/jobs/test_engine.py::test_the_queue_says_the_place_and_refuses_beyond_its_limits",
    ),
    "a server that is killed": (
        "tests/jobs/test_server.py::test_the_end_of_a_server_leaves_no_process_and_an_interrupted_run",
        "tests/jobs/test_kills.py::test_what_had_ended_is_there_after_every_kill",
        "tests/jobs/test_kills.py::test_every_run_of_a_killed_engine_is_done_or_can_be_run_again",
        "tests/browser/test_killed.py::test_a_killed_dashboard_shows_what_was_done_and_runs_the_rest_again",
    ),
    "a worker that is killed, or needs too much memory": (
        "tests/jobs/test_engine.py::test_a_killed_worker_ends_its_run_alone_with_a_sentence",
        "tests/jobs/test_engine.py::test_a_worker_out_of_memory_ends_the_run_with_a_sentence",
        "tests/jobs/test_cluster.py::test_a_cluster_goes_on_without_a_worker_that_was_killed",
    ),
    "more than a hundred files made to hurt": (
        "tests/data/test_hostile.py::test_a_small_file_gets_its_sentence",
        "tests/data/test_hostile.py::test_every_file_gets_its_sentence_in_time_and_within_memory",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_tests_that_are_there(fault):
    assert FAULTS[fault]
    for test in FAULTS[fault]:
        path, _, name = test.partition("::")
        assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), test


def test_every_row_of_the_list_is_there():
    numbers = [fault.partition(" ")[0] for fault in FAULTS]
    assert [number for number in numbers if number.isdecimal()] == [str(row) for row in range(1, 19)]
