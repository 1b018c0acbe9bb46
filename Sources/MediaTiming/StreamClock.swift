/// How far one stream of a walk has come, where frames may be stored in another order than they are shown.
///
/// Frames that are shown before the goal may come behind one that is shown later, on which they depend. When the next
/// such frame comes, those before it are complete. So a stream has come to the goal with the second frame that is at
/// or behind the goal and later than all before it.
struct StreamClock: Sendable {
    private var newest = -Double.infinity
    private var framesBeyond = 0

    /// Seconds of the latest frame; −∞ before the first.
    var latest: Double { newest }

    /// Whether all frames before the goal have come.
    var isDone: Bool { framesBeyond >= 2 }

    /// Whether the frame at `time` is shown before `goal`.
    mutating func note(_ time: Double, goal: Double) -> Bool {
        if time > newest {
            newest = time
            if time >= goal { framesBeyond += 1 }
        }
        return time < goal
    }
}
