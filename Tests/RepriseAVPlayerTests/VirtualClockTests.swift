import TestLimits
import Testing

/// Tests that wait for the engine to be calm; one at a time, because calm is a state of the whole process.
@Suite(.serialized, .limit(minutes: 30)) enum VirtualClockTests {}
