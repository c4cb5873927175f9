import CardCore
import Foundation
import Synchronization

/// The doctor: runs checks on a machine and reports what is wrong with it.
///
/// ```swift
/// let diagnosis = MachineDiagnosis(checks: MachineDiagnosis.readerChecks)
/// let report = await diagnosis.run(on: Machine(probe: .ownExecutable))
/// print(report.summary)   // "pcscd does not run: start it."
/// ```
///
/// Checks run side by side, each on a thread of its own for ``timeLimit`` at most: one that hangs is reported as such and
/// keeps no other waiting. Nothing is changed.
public struct MachineDiagnosis: Sendable {
    /// The checks, causes before what follows from them: the first trouble of the worst kind is the summary.
    public var checks: [Check]
    /// How long a check may take.
    public var timeLimit = Duration.seconds(4)
    /// The checks that did not return from an earlier run. They are not begun once more, or each run would leave a thread.
    private let stuck = StuckChecks()

    /// Creates a diagnosis.
    public init(checks: [Check]) { self.checks = checks }

    /// All that can be seen of readers and of the machine they are at.
    public static let readerChecks: [Check] =
        machineChecks + serviceChecks + usbChecks + driverChecks + pcscReaderChecks + nfcChecks + lineChecks

    /// Runs all checks, or those that are chosen.
    ///
    /// - Parameter ids: the checks' ids; `pcsc` means all that begin with `pcsc.`.
    public func run(on machine: Machine, only ids: Set<String>? = nil) async -> DiagnosticReport {
        let chosen = checks.filter { check in
            ids?.contains { check.id == $0 || check.id.hasPrefix($0 + ".") } ?? true
        }
        let findings = await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, check) in chosen.enumerated() { group.addTask { (index, await look(check, machine)) } }
            return await group.reduce(into: [Int: Finding]()) { $0[$1.0] = $1.1 }
        }
        return DiagnosticReport(
            results: chosen.indices.compactMap { index in
                findings[index].map { DiagnosticReport.Result(check: chosen[index], finding: $0) }
            }
        )
    }

    private func look(_ check: Check, _ machine: Machine) async -> Finding {
        let late = Finding.cannotTell(
            "This could not be looked at within \(Int(timeLimit.seconds)) s: a file or a call does not answer."
        )
        let stuck = stuck
        guard stuck.begin(check.id) else { return late }
        let finding = try? await withCheckedThrowingContinuation { continuation in
            let pending = PendingResult<Finding>(continuation)
            DetachedThread.start(name: "check") {
                let finding: Finding
                do {
                    finding = try check.look(machine)
                } catch {
                    finding = .cannotTell("This could not be looked at: \(error)")
                }
                pending.resume(with: .success(finding))
                stuck.end(check.id)
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + timeLimit.seconds) {
                if pending.resume(with: .success(late)) { stuck.isLate(check.id) }
            }
        }
        return finding ?? late
    }
}

/// Which checks are under way, and which of them were late.
private final class StuckChecks: Sendable {
    private let checks = Mutex<(threads: [String: Int], late: Set<String>)>(([:], []))

    /// Notes that a check begins, if it may: not while one that was late has not returned.
    func begin(_ id: String) -> Bool {
        checks.withLock { checks in
            if checks.late.contains(id), checks.threads[id, default: 0] > 0 { return false }
            checks.late.remove(id)
            checks.threads[id, default: 0] += 1
            return true
        }
    }

    func end(_ id: String) { checks.withLock { $0.threads[id, default: 1] -= 1 } }

    func isLate(_ id: String) { _ = checks.withLock { $0.late.insert(id) } }
}

/// What a diagnosis found.
public struct DiagnosticReport: Sendable {
    /// What one check found.
    public struct Result: Sendable {
        /// The check.
        public var check: Check
        /// What it found.
        public var finding: Finding
    }

    /// The results, in the order of the checks.
    public var results: [Result]

    /// The worst verdict.
    public var verdict: Verdict { results.map(\.finding.verdict).max() ?? .fine }

    /// The result that matters most: the first of the worst, unless all is well.
    public var first: Result? {
        let worst = verdict
        return worst < .warning ? nil : results.first { $0.finding.verdict == worst }
    }

    /// What is wrong, in one sentence, or that nothing is.
    public var summary: String {
        if let first { return first.finding.sentence }
        if results.isEmpty { return "Nothing was looked at." }
        if results.count == 1 { return results[0].finding.sentence }
        let blind = results.count { $0.finding.verdict == .cannotTell }
        let rest = blind == 0 ? "" : " \(blind) of \(results.count) checks could not look."
        if let reader = results.first(where: { $0.check.id == "pcsc.readers" })?.finding, reader.verdict == .fine {
            return "Nothing is wrong. \(reader.sentence)\(rest)"
        }
        return "Nothing is wrong.\(rest)"
    }
}
