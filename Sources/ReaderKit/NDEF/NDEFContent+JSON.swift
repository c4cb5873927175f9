extension NDEFHandover: Encodable {
    private enum CodingKeys: String, CodingKey {
        case kind, version, collisionResolution, carriers, failure
    }

    private enum FailureKeys: String, CodingKey {
        case reason, data
    }

    /// The JSON object that the tools print: `kind` (`request` or `select`), `version`, `collisionResolution` (a number),
    /// `carriers` (`power`, `reference` and `auxiliary`, identifiers as hexadecimal) and `failure` (`reason`, a number, and
    /// `data`, a number or hexadecimal).
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(version.description, forKey: .version)
        try container.encodeIfPresent(collisionResolution, forKey: .collisionResolution)
        try container.encode(carriers, forKey: .carriers)
        guard let failure else { return }
        var nested = container.nestedContainer(keyedBy: FailureKeys.self, forKey: .failure)
        switch failure {
        case .temporaryMemory(let milliseconds):
            try nested.encode(1, forKey: .reason)
            try nested.encode(milliseconds, forKey: .data)
        case .permanentMemory(let bytes):
            try nested.encode(2, forKey: .reason)
            try nested.encode(bytes, forKey: .data)
        case .carrier(let milliseconds):
            try nested.encode(3, forKey: .reason)
            try nested.encode(milliseconds, forKey: .data)
        case .reserved(let reason, let data):
            try nested.encode(reason, forKey: .reason)
            try nested.encode(data.hex, forKey: .data)
        }
    }
}

extension NDEFHandover.AlternativeCarrier: Encodable {
    private enum CodingKeys: String, CodingKey {
        case power, reference, auxiliary
    }

    /// The JSON object that the tools print.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(power.name, forKey: .power)
        try container.encode(reference.hex, forKey: .reference)
        try container.encode(auxiliary.map(\.hex), forKey: .auxiliary)
    }
}

extension NDEFHandoverCarrier: Encodable {
    private enum CodingKeys: String, CodingKey {
        case tnf, type, data
    }

    /// The JSON object that the tools print: `tnf`, `type` in the form of ``NDEFRecord/typeName``, and `data`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(format.name, forKey: .tnf)
        try container.encode(NDEFRecord(tnf: format, type: type).typeName, forKey: .type)
        try container.encode(data.hex, forKey: .data)
    }
}

extension NDEFSignature: Encodable {
    private enum CodingKeys: String, CodingKey {
        case version, algorithm, hash, signature, signatureURI, certificateFormat, certificates, certificateURI
    }

    /// The JSON object that the tools print: `version`, `algorithm` (a name), `hash` (a number), `signature`
    /// (hexadecimal) or `signatureURI`, `certificateFormat` (a number), `certificates` (hexadecimal), `certificateURI`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("2.\(minorVersion)", forKey: .version)
        try container.encode(algorithm.description, forKey: .algorithm)
        try container.encode(hash, forKey: .hash)
        switch signature {
        case .bytes(let bytes): try container.encode(bytes.hex, forKey: .signature)
        case .uri(let uri): try container.encode(uri, forKey: .signatureURI)
        }
        try container.encode(certificateFormat, forKey: .certificateFormat)
        try container.encode(certificates.map(\.hex), forKey: .certificates)
        try container.encodeIfPresent(certificateURI, forKey: .certificateURI)
    }
}

extension NDEFBluetooth: Encodable {
    private enum CodingKeys: String, CodingKey {
        case transport, address, addressKind, name, deviceClass, structures
    }

    private struct StructureJSON: Encodable {
        var type: UInt8
        var data: String
    }

    /// The JSON object that the tools print: `transport` (`classic` or `lowEnergy`), `address` and `addressKind`
    /// (`public` or `random`) if there is one, `name`, `deviceClass` (a number), `structures` (`type`, a number, and
    /// `data`).
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(transport, forKey: .transport)
        if let addressText {
            try container.encode(addressText, forKey: .address)
            try container.encode(isRandomAddress ? "random" : "public", forKey: .addressKind)
        }
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(deviceClass, forKey: .deviceClass)
        try container.encode(structures.map { StructureJSON(type: $0.type, data: $0.data.hex) }, forKey: .structures)
    }
}

extension NDEFWiFi: Encodable {
    private enum CodingKeys: String, CodingKey {
        case credentials
    }

    /// The JSON object that the tools print: `credentials`, each with `ssid` (hexadecimal), `name` if it is text,
    /// `authentication` and `encryption` (numbers of the standard), `macAddress`, and `hasKey`. The key is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(credentials, forKey: .credentials)
    }
}

extension NDEFWiFi.Credential: Encodable {
    private enum CodingKeys: String, CodingKey {
        case ssid, name, authentication, encryption, macAddress, hasKey
    }

    /// The JSON object that the tools print, without the key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ssid.hex, forKey: .ssid)
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(authentication?.rawValue, forKey: .authentication)
        try container.encodeIfPresent(encryption?.rawValue, forKey: .encryption)
        try container.encodeIfPresent(macAddress.map { Hex.encode($0, separator: ":") }, forKey: .macAddress)
        try container.encode(key?.isEmpty == false, forKey: .hasKey)
    }
}
