/// How much of a resource to fetch before it is played.
public enum PrefetchAmount: Sendable, Hashable {
    /// The first bytes, up to this many; fewer if the file is shorter.
    case first(Int64)
    /// A half-open range.
    case range(Range<Int64>)
    /// Everything.
    case all
}
