@_exported public import TestClock
