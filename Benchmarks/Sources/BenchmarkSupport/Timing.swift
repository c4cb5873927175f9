/// Measures how long something takes.
public enum Timing {
    /// Seconds that the body takes, by a clock that nobody sets.
    public static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let duration = try ContinuousClock().measure(body)
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// A number with one digit after the point.
    public static func text(_ number: Double) -> String {
        let tenths = (number * 10).rounded()
        guard tenths.isFinite, abs(tenths) < 1e15 else { return "\(number)" }
        return "\(Int(tenths) / 10).\(abs(Int(tenths)) % 10)"
    }
}

extension [Double] {
    /// The median of some numbers, at least one.
    public var median: Double {
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
