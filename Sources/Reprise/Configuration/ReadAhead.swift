/// How far ahead of a player that is being served the file is fetched.
package enum ReadAhead: Sendable, Hashable {
    /// By what its pace calls for: its own way of streaming is unchanged.
    case asRequested
    /// By this many bytes.
    case bytes(Int64)
    /// By what so many seconds of playback need, as the file's tables or first frames say.
    case seconds(Double)
    /// To the end of the file, if that fits into the store.
    case toEnd
}
