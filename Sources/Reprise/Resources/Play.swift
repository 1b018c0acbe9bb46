/// One play of a resource: the life of a player's item.
///
/// Media for which the origin was asked since the play began are used for the rest of it, whatever their freshness.
/// Reads without a play belong to one that lasts as ``ReusePolicy/playWindow`` says.
package struct Play: Sendable, Hashable {
    /// When it began, by the monotonic clock.
    let began: Duration
}

extension MediaCache {
    /// A play that begins now.
    package func beginPlay() -> Play { Play(began: clock.elapsed()) }
}
