/// A file of udev rules (udev(7)), read strictly: what udev would warn of and pass over is an error here.
struct UdevRules {
    var rules: [Rule] = []

    /// One rule: all its matches must hold, then its assignments are made.
    struct Rule {
        var line: Int
        var tokens: [Token]

        var matches: [Token] { tokens.filter(\.isMatch) }
        var assignments: [Token] { tokens.filter { !$0.isMatch && $0.key != "GOTO" && $0.key != "LABEL" } }

        func value(of key: String) -> String? { tokens.first { $0.key == key && !$0.isMatch }?.value }
    }

    /// `KEY{attribute}OPERATOR"value"`
    struct Token: Hashable {
        var key: String
        var attribute: String?
        var operation: String
        var value: String

        var isMatch: Bool { operation == "==" || operation == "!=" }
    }

    /// Why a file is no file of rules, and in which line.
    struct Failure: Error, Hashable, CustomStringConvertible {
        var line: Int
        var reason: String

        var description: String { "line \(line): \(reason)" }
    }

    private enum Attribute { case none, required, optional }

    private static let match: Set = ["==", "!="]

    /// The keys that udev knows, what may stand in braces behind them, and the operators that they take.
    private static let keys: [String: (attribute: Attribute, operators: Set<String>)] = [
        "ACTION": (.none, match), "DEVPATH": (.none, match), "KERNEL": (.none, match), "KERNELS": (.none, match),
        "SUBSYSTEM": (.none, match), "SUBSYSTEMS": (.none, match), "DRIVER": (.none, match), "DRIVERS": (.none, match),
        "TAGS": (.none, match), "RESULT": (.none, match), "ATTRS": (.required, match), "CONST": (.required, match),
        "TEST": (.optional, match), "PROGRAM": (.none, match.union(["="])), "IMPORT": (.required, match.union(["="])),
        "ATTR": (.required, match.union(["="])), "SYSCTL": (.required, match.union(["="])),
        "ENV": (.required, match.union(["=", "+="])), "NAME": (.none, match.union(["=", ":="])),
        "SYMLINK": (.none, match.union(["=", "+=", "-=", ":="])), "TAG": (.none, match.union(["=", "+=", "-="])),
        "OWNER": (.none, ["=", ":="]), "GROUP": (.none, ["=", ":="]), "MODE": (.none, ["=", ":="]),
        "SECLABEL": (.required, ["=", "+="]), "RUN": (.optional, ["=", "+=", ":="]),
        "OPTIONS": (.none, ["=", "+=", ":="]), "GOTO": (.none, ["="]), "LABEL": (.none, ["="]),
    ]

    /// Reads a file.
    init(parsing text: String) throws(Failure) {
        var line = 0
        var pending: (line: Int, text: String)?
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
            line += 1
            var part = String(part)
            if pending == nil, part.allSatisfy(\.isWhitespace) || part.drop(while: \.isWhitespace).first == "#" {
                continue
            }
            let continues = part.last == "\\"
            if continues { part.removeLast() }
            let whole = (pending?.line ?? line, (pending?.text ?? "") + part)
            pending = continues ? whole : nil
            if !continues { rules.append(try Self.rule(whole.1, line: whole.0)) }
        }
        if let pending { throw Failure(line: pending.line, reason: "the rule is not finished") }
        try checkLabels()
    }

    private static func rule(_ text: String, line: Int) throws(Failure) -> Rule {
        var rest = Array(text)[...]
        var tokens: [Token] = []
        func fail(_ reason: String) -> Failure { Failure(line: line, reason: reason) }
        func take(while condition: (Character) -> Bool) -> String {
            let taken = rest.prefix(while: condition)
            rest = rest.dropFirst(taken.count)
            return String(taken)
        }
        _ = take(while: \.isWhitespace)
        while true {
            let key = take { $0.isLetter || $0 == "_" }
            guard let known = keys[key] else { throw fail("'\(key)' is no key") }
            var attribute: String?
            if rest.first == "{" {
                rest.removeFirst()
                let name = take { $0 != "}" }
                guard !rest.isEmpty, !name.isEmpty else { throw fail("the brace behind \(key) is not closed or empty") }
                rest.removeFirst()
                attribute = name
            }
            switch (known.attribute, attribute) {
            case (.none, .some): throw fail("\(key) takes nothing in braces")
            case (.required, nil): throw fail("\(key) needs a name in braces")
            default: break
            }
            let operation = take { "=!+-:".contains($0) }
            guard known.operators.contains(operation) else { throw fail("\(key) does not take '\(operation)'") }
            guard rest.first == "\"" else { throw fail("the value of \(key) has no quotation mark") }
            rest.removeFirst()
            var value = ""
            while let next = rest.first, next != "\"" {
                rest.removeFirst()
                if next == "\\", rest.first == "\"" {
                    value.append(rest.removeFirst())
                } else {
                    value.append(next)
                }
            }
            guard !rest.isEmpty else { throw fail("the value of \(key) is not closed") }
            rest.removeFirst()
            let token = Token(key: key, attribute: attribute, operation: operation, value: value)
            if let reason = flaw(in: token) { throw fail(reason) }
            tokens.append(token)
            let separator = take { $0 == "," || $0.isWhitespace }
            if rest.isEmpty {
                guard !separator.contains(",") else { throw fail("a comma and nothing behind it") }
                break
            }
            guard separator.filter({ $0 == "," }).count == 1 else { throw fail("one comma stands between two keys") }
        }
        guard tokens.contains(where: { !$0.isMatch }) else { throw fail("the rule does nothing") }
        return Rule(line: line, tokens: tokens)
    }

    /// What is wrong with a value.
    private static func flaw(in token: Token) -> String? {
        guard !token.isMatch else {
            let needsHex = ["idVendor", "idProduct"].contains(token.attribute ?? "")
            // sysfs writes them so; anything else never matches.
            let isHex = token.value.count == 4 && token.value.allSatisfy { "0123456789abcdef".contains($0) }
            return needsHex && !isHex ? "'\(token.value)' is no number of four lower-case hexadecimal digits" : nil
        }
        switch token.key {
        case "MODE":
            let mode = UInt16(token.value, radix: 8)
            return mode.map { $0 <= 0o7777 } == true ? nil : "'\(token.value)' is no octal mode"
        case "GOTO", "LABEL", "TAG", "GROUP", "OWNER":
            return token.value.isEmpty || token.value.contains(where: \.isWhitespace)
                ? "'\(token.value)' is no name for \(token.key)" : nil
        case "SYMLINK":
            return token.value.hasPrefix("/") ? "a link is relative to /dev" : nil
        case "OPTIONS":
            let options = ["link_priority", "string_escape", "static_node", "watch", "nowatch", "db_persist"]
            let name = String(token.value.prefix { $0 != "=" })
            return options.contains(name) ? nil : "'\(name)' is no option"
        case "RUN":
            let isKnown = [nil, "program", "builtin"].contains(token.attribute)
            return isKnown ? nil : "RUN does not take '\(token.attribute ?? "")'"
        default:
            return nil
        }
    }

    /// A jump goes forward to a label of the same file.
    private func checkLabels() throws(Failure) {
        var labels: [String: Int] = [:]
        for rule in rules {
            guard let name = rule.value(of: "LABEL") else { continue }
            if labels[name] != nil { throw Failure(line: rule.line, reason: "the label '\(name)' is there already") }
            labels[name] = rule.line
        }
        var used: Set<String> = []
        for rule in rules {
            guard let name = rule.value(of: "GOTO") else { continue }
            guard let target = labels[name], target > rule.line else {
                throw Failure(line: rule.line, reason: "there is no label '\(name)' behind this line")
            }
            used.insert(name)
        }
        for (name, line) in labels where !used.contains(name) {
            throw Failure(line: line, reason: "nothing jumps to the label '\(name)'")
        }
    }
}

extension UdevRules {
    /// What udev knows of a device. Attributes of a parent are reached by `ATTRS`.
    struct Device {
        var action = "add"
        var kernel = "1-1"
        var subsystem = "usb"
        var attributes: [String: String] = [:]
        var parentAttributes: [String: String] = [:]
        var properties: [String: String] = ["DEVTYPE": "usb_device"]
        var files: Set<String> = ["power/control"]
    }

    /// The assignments that the rules make for a device, in order. Keys that no rule of this project uses never match.
    func assignments(for device: Device) -> [Token] {
        var made: [Token] = []
        var target: String?
        for rule in rules {
            if let label = target {
                guard rule.value(of: "LABEL") == label else { continue }
                target = nil
            }
            guard rule.matches.allSatisfy({ Self.holds($0, for: device) }) else { continue }
            made += rule.assignments
            target = rule.value(of: "GOTO")
        }
        return made
    }

    private static func holds(_ token: Token, for device: Device) -> Bool {
        let found: String? =
            switch token.key {
            case "ACTION": device.action
            case "KERNEL": device.kernel
            case "SUBSYSTEM": device.subsystem
            case "ATTR": device.attributes[token.attribute ?? ""]
            case "ATTRS": device.attributes[token.attribute ?? ""] ?? device.parentAttributes[token.attribute ?? ""]
            case "ENV": device.properties[token.attribute ?? ""] ?? ""
            case "TEST": device.files.contains(token.value) ? token.value : nil
            default: nil
            }
        let matches = found.map { Self.matches(Array($0)[...], Array(token.value)[...]) } ?? false
        return token.operation == "==" ? matches : !matches
    }

    /// The part of shell patterns that the rules use: `*`, `?` and `[0-9]`.
    private static func matches(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return (0...text.count).contains { matches(text.dropFirst($0), pattern.dropFirst()) }
        }
        guard let next = text.first else { return false }
        if pattern.starts(with: "[0-9]") {
            return next.isASCII && next.isNumber && matches(text.dropFirst(), pattern.dropFirst(5))
        }
        return (first == "?" || first == next) && matches(text.dropFirst(), pattern.dropFirst())
    }
}
