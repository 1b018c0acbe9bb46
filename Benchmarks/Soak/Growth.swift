/// Whether a measurement grows over a run.
///
/// The warm-up, at most a sixth of the samples, does not count. A line is fitted to the last two thirds of the
/// rest. The measurement grows if that line rises by more than the allowance over its length, and the mean of the last
/// third is above the maximum of the first. A plateau, a single peak and noise are not growth.
struct Growth {
    /// How much the fitted line rises over the last two thirds.
    let rise: Double
    /// Mean of the last third less the maximum of the first.
    let excess: Double
    /// How much it may rise: a share of the maximum of the first third, and an amount.
    let allowance: Double

    /// `nil` for fewer than twelve samples.
    init?(_ samples: [Double], warmUp: Int, share: Double, amount: Double) {
        guard samples.count >= 12 else { return nil }
        let counted = Array(samples.dropFirst(min(warmUp, samples.count / 6)))
        let third = counted.count / 3
        let first = counted.prefix(third).max() ?? 0
        let last = counted.suffix(third)
        rise = Self.slope(counted.dropFirst(third)) * Double(counted.count - third - 1)
        excess = last.reduce(0, +) / Double(last.count) - first
        allowance = first * share + amount
    }

    var isGrowth: Bool { rise > allowance && excess > 0 }

    /// The slope of the least-squares line, per sample.
    private static func slope(_ samples: some Collection<Double>) -> Double {
        let count = Double(samples.count)
        let middle = (count - 1) / 2
        let mean = samples.reduce(0, +) / count
        var product = 0.0
        var square = 0.0
        for (index, sample) in samples.enumerated() {
            product += (Double(index) - middle) * (sample - mean)
            square += (Double(index) - middle) * (Double(index) - middle)
        }
        return square > 0 ? product / square : 0
    }
}
