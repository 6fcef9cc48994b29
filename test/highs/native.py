"""Runs native HiGHS on the program in a file and prints CPU seconds and objective of each run.

The file holds little-endian counts (columns, rows, entries: int64), then cost, lower, upper,
row lower, row upper and value (float64), start and index (int32). The program is maximised.
Each line of a run begins with "run", for HiGHS greets on the same output.
Arguments: file, method (simplex, ipm), tolerance (of ipm), runs, and seconds after which a run
is stopped, and the last (inf: never). Only run() is timed.
"""

import sys
import time

import highspy
import numpy


def main():
    name, method, tolerance, runs = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    limit = float(sys.argv[5])
    with open(name, "rb") as file:
        columns, rows, entries = numpy.fromfile(file, "<i8", 3)
        cost, lower, upper = (numpy.fromfile(file, "<f8", columns) for _ in range(3))
        row_lower, row_upper = (numpy.fromfile(file, "<f8", rows) for _ in range(2))
        value = numpy.fromfile(file, "<f8", entries)
        start, index = numpy.fromfile(file, "<i4", columns), numpy.fromfile(file, "<i4", entries)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = int(columns), int(rows)
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
    program.row_lower_, program.row_upper_ = row_lower, row_upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = numpy.append(start, numpy.int32(entries))
    program.a_matrix_.index_, program.a_matrix_.value_ = index, value
    for _ in range(runs):
        solver = highspy.Highs()
        solver.silent()
        for option, setting in (("threads", 1), ("solver", method), ("time_limit", limit)):
            solver.setOptionValue(option, setting)
        if method == "ipm":
            solver.setOptionValue("run_crossover", "off")
            solver.setOptionValue("ipm_optimality_tolerance", tolerance)
        solver.passModel(program)
        begin = time.process_time()
        solver.run()
        seconds = time.process_time() - begin
        status = solver.modelStatusToString(solver.getModelStatus()).replace(" ", "-")
        print("run", seconds, solver.getInfo().objective_function_value, status, flush=True)
        if status == "Time-limit-reached":
            break


main()
