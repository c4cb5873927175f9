import ReaderKit
import ToolSupport

/// Whether the reader tells phones that passes are wanted, and what follows from it.
struct PassSection: InfoSection {
    static let key = "phonePasses"
    static let title = "Phone passes"

    var annotations: PollingAnnotation.Support
    var findings: [PassFinding]

    init(_ reader: ReaderInfo) {
        annotations = PollingAnnotation.support(by: reader)
        findings = PassFinding.findings(reader: reader)
    }

    var lines: [InfoLine] {
        var lines = [InfoLine("annotations", annotations.meaning)]
        for finding in findings {
            lines.append(InfoLine("finding", finding.what))
            lines.append(InfoLine("so", finding.consequence))
            lines.append(InfoLine("do", finding.advice))
        }
        return lines
    }
}
