# SPDX-License-Identifier: Apache-2.0
"""Writes the operations CSV of tt-metal's profiler (tools/tracy/process_ops_logs.py; columns of ops_perf_results_*.csv as tt-perf-report's tests have
them, 2026): every column that the readers look at, the others empty."""
import csv

COLUMNS = ("OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,AVAILABLE WORKER CORE COUNT,PARALLELIZATION STRATEGY,"
           "HOST START TS,HOST END TS,HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns],"
           "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],INPUT_0_W_PAD[LOGICAL],INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],"
           "INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,INPUT_1_W_PAD[LOGICAL],INPUT_1_Z_PAD[LOGICAL],INPUT_1_Y_PAD[LOGICAL],INPUT_1_X_PAD[LOGICAL],"
           "INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,OUTPUT_0_W_PAD[LOGICAL],OUTPUT_0_Z_PAD[LOGICAL],OUTPUT_0_Y_PAD[LOGICAL],OUTPUT_0_X_PAD[LOGICAL],"
           "OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,PM IDEAL [ns],PM COMPUTE [ns],PM BANDWIDTH [ns],"
           "PM REQ I BW,PM REQ O BW,PM FPU UTIL (%),NOC UTIL (%),DRAM BW UTIL (%),NPE CONG IMPACT (%)").split(",")


class PerfCsv:
    """Rows one behind the other, 1 cycle a nanosecond."""

    def __init__(self):
        self.rows, self.now, self.count = [], 1000, 0

    def add(self, code, ns, gap=0, devices=1, call=None, trace="", ideal=1, compute=1, bandwidth=1, fpu="", dram=""):
        self.count += 1
        self.now += gap
        for device in range(devices):
            row = dict.fromkeys(COLUMNS, "")
            row.update({"OP CODE": code, "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": (call or 1024 * self.count) + device, "DEVICE ID": device,
                        "DEVICE ARCH": "wormhole_b0", "ATTRIBUTES": "{'a': 'b'; 'c': \"d\"}", "MATH FIDELITY": "HiFi4", "CORE COUNT": 64,
                        "AVAILABLE WORKER CORE COUNT": 64, "HOST START TS": self.now, "HOST END TS": self.now + 5, "HOST DURATION [ns]": 5,
                        "DEVICE FW START CYCLE": self.now, "DEVICE FW END CYCLE": self.now + ns, "OP TO OP LATENCY [ns]": gap,
                        "OP TO OP LATENCY BR/NRISC START [ns]": gap, "DEVICE FW DURATION [ns]": ns, "DEVICE KERNEL DURATION [ns]": ns,
                        "METAL TRACE ID": trace, "METAL TRACE REPLAY SESSION ID": 1 if trace != "" else "",
                        "PM IDEAL [ns]": ideal, "PM COMPUTE [ns]": compute, "PM BANDWIDTH [ns]": bandwidth, "PM REQ I BW": "[]", "PM REQ O BW": "[]",
                        "PM FPU UTIL (%)": fpu, "DRAM BW UTIL (%)": dram})
            for side in ("INPUT_0", "INPUT_1", "OUTPUT_0"):
                row.update({"%s_W_PAD[LOGICAL]" % side: "1[1]", "%s_Z_PAD[LOGICAL]" % side: "1[1]", "%s_Y_PAD[LOGICAL]" % side: "32[32]",
                            "%s_X_PAD[LOGICAL]" % side: "32[32]", "%s_LAYOUT" % side: "TILE", "%s_DATATYPE" % side: "BFLOAT16",
                            "%s_MEMORY" % side: "DEV_0_DRAM_INTERLEAVED"})
            self.rows.append(row)
        self.now += ns
        return self

    def signpost(self, name):
        self.rows.append(dict(dict.fromkeys(COLUMNS, ""), **{"OP CODE": name, "OP TYPE": "signpost", "HOST START TS": self.now}))
        return self

    def write(self, path):
        with open(path, "w", newline="") as out:
            writer = csv.DictWriter(out, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)
        return str(path)
