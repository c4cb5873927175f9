extension MachineDiagnosis {
    /// The checks as a page in Markdown: what each looks at, what goes wrong, and why.
    public var documentation: String {
        var text = "| check | all is well if | it looks at |\n| --- | --- | --- |\n"
        for check in checks { text += "| [`\(check.id)`](#\(check.anchor)) | \(check.title) | \(check.looksAt) |\n" }
        for check in checks { text += "\n### \(check.id)\n\n\(check.title). \(check.explanation)\n" }
        return text
    }
}

extension Check {
    /// The name that a heading of the ``id`` gets in a page made of Markdown.
    fileprivate var anchor: String { id.filter { $0 != "." } }
}
