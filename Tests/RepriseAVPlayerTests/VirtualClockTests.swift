import TestLimits
import Testing

/// Everything that waits for the engine to be calm: one at a time, because calm is the process's.
@Suite(.serialized, .limit(minutes: 30)) enum VirtualClockTests {}
