import Dispatch

/// Returns when `condition` holds, or when the task is canceled.
///
/// For states that give no signal. Looks again every few milliseconds: a loop around `Task.yield()` takes the processor
/// from the work that it waits for, and on a busy machine from every other test.
public func eventually(_ condition: () async throws -> Bool) async rethrows {
    for _ in 0..<8 {
        if try await condition() { return }
        await Task.yield()
    }
    while !Task.isCancelled, try await !condition() { await breathe() }
}

/// Leaves the processor to others for two milliseconds.
public func breathe() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) { continuation.resume() }
    }
}
