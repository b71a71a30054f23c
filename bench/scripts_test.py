#!/usr/bin/env python3
"""Tests of the scripts beside: what they read, and what they must not take for equal."""

import unittest

import emulator_vs_ncu
import report
import source_hash

NAME = "void sevenloops::build_gpu::<unnamed>::lower<float>(sevenloops::TensorView<T1>, long)"
START = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream"'
VALUES = {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "1,024",
          "smsp__inst_executed_op_shared_ld.sum": "96"}
WIDE = "\n".join([
    "==PROF== Connected to process 7", f'{START},' + ",".join(f'"{name}"' for name in VALUES),
    '"","","","","","","","inst",""',
    f'"0","7","p","h","{NAME}","1","7",' + ",".join(f'"{value}"' for value in VALUES.values()),
    "==PROF== Disconnected"])
LONG = "\n".join([f'{START},"Section Name","Metric Name","Metric Unit","Metric Value"'] + [
    f'"0","7","p","h","{NAME}","1","7","Command line","{name}","inst","{value}"'
    for name, value in VALUES.items()])
METRICS = [("requests", "global_load.requests", list(VALUES)[0], True),
           ("loads", "shared_load.merged_requests", list(VALUES)[1], False)]


def emulated(requests, kernel="lower<float>"):
    return [{"kernel": kernel, "counters": {"global_load": {"requests": requests},
                                            "shared_load": {"merged_requests": 96}}}]


class EmulatorVsNcu(unittest.TestCase):
    def test_names_of_kernels(self):
        for name in (NAME, "lower", "lower<float, 4>", "sevenloops::(anonymous namespace)::lower"):
            self.assertEqual(emulator_vs_ncu.plain_name(name), "lower")

    def test_both_forms_of_ncu_tables(self):
        expected = [{"kernel": "lower", **dict(zip(VALUES, (1024, 96)))}]
        self.assertEqual(emulator_vs_ncu.parse_ncu(WIDE), expected)
        self.assertEqual(emulator_vs_ncu.parse_ncu(LONG), expected)

    def test_no_table_and_no_count_are_failures(self):
        for text in ("==ERROR== no kernels were profiled", LONG.replace('"96"', '"n/a"')):
            with self.assertRaises(emulator_vs_ncu.Failed):
                emulator_vs_ncu.parse_ncu(text)

    def test_only_the_same_numbers_are_equal(self):
        measured = emulator_vs_ncu.parse_ncu(WIDE)
        for requests, equal in ((1024, True), (1023, False)):
            rows = emulator_vs_ncu.compare_launches(emulated(requests), [measured] * 2, METRICS)
            self.assertEqual([row["equal"] for row in rows], [equal, True])

    def test_the_least_disturbed_run_counts(self):
        runs = [emulator_vs_ncu.parse_ncu(WIDE.replace("1,024", n)) for n in ("1,030", "1,024")]
        for requests, equal in ((1024, True), (1030, False)):
            row = emulator_vs_ncu.compare_launches(emulated(requests), runs, METRICS)[0]
            self.assertEqual((row["equal"], row["steady"]), (equal, False))
            self.assertEqual((row["ncu"], row["ncu_runs"]), (1024, [1030, 1024]))

    def test_other_launches_are_a_failure(self):
        measured = emulator_vs_ncu.parse_ncu(WIDE)
        for launches in ([], emulated(1024, "multiply"), emulated(1024) * 2):
            with self.assertRaises(emulator_vs_ncu.Failed):
                emulator_vs_ncu.compare_launches(launches, [measured], METRICS)

    def test_a_metric_that_is_missing_is_a_failure(self):
        with self.assertRaises(emulator_vs_ncu.Failed):
            emulator_vs_ncu.compare_launches(emulated(1024), [[{"kernel": "lower"}]], METRICS)


class SourceHash(unittest.TestCase):
    def test_comments_and_white_space_do_not_count(self):
        self.assertEqual(source_hash.code_of("int  a; // one\n/* two\n */ int b;"), "inta;intb;")

    def test_every_stage_has_a_file_and_its_own_hash(self):
        hashes = [source_hash.hash_of(*stage) for stage in source_hash.stages()]
        self.assertEqual(len(set(hashes)), len(hashes))
        self.assertTrue(all(source_hash.files_of(*stage) for stage in source_hash.stages()))


class Report(unittest.TestCase):
    def test_only_tables_between_marks_are_replaced(self):
        text = "a\n<!-- other:begin -->\nb\n<!-- other:end -->\n<!-- results:begin -->(the last table)<!-- results:end -->"
        self.assertNotIn("(the last table)", report.rewritten(text))
        self.assertIn("<!-- other:begin -->\nb\n<!-- other:end -->", report.rewritten(text))

    def test_numbers_have_three_digits(self):
        self.assertEqual([report.digits(v) for v in (0, 0.4126, 12.345, 532.7)],
                         ["0", "0.413", "12.3", "533"])
        self.assertEqual([report.size(v) for v in (0, 12, 7.9e9)], ["0", "12 B", "7.90 GB"])


if __name__ == "__main__":
    unittest.main()
