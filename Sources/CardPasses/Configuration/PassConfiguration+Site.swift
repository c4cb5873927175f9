import CardCore
import CardTags

extension PassConfiguration {
    /// What the place reads and accepts, with the keys.
    ///
    /// - Parameters:
    ///   - folder: where relative paths begin: the folder of the file.
    ///   - memory: what was presented before.
    /// - Throws: ``PassConfigurationError`` for a key that cannot be read, is none, or can be read by others.
    public func site(
        folder: String,
        memory: any PassMemory = VolatilePassMemory()
    ) async throws(PassConfigurationError) -> PassSite {
        // One that was made in a program was not checked when it was read.
        do throws(PassConfigurationError.Fault) { try check() } catch { throw .malformed(folder, error) }
        let files = PassKeyFiles(folder: folder)
        var site = PassSite(memory: memory)
        if let appleVAS {
            site.appleVAS = try appleVAS.reader(files)
            if let age = appleVAS.longestAgeSeconds { site.longestAge = .seconds(age) }
        }
        if let smartTap {
            site.smartTap = try smartTap.reader(files)
            if let kinds = smartTap.memberKinds { site.smartTapKinds = kinds }
            site.smartTapIssuers = smartTap.issuers.map(Set.init)
        }
        for tags in signingTags ?? [] { site.signingTags.append(try tags.site(files)) }
        site.cards = cards ?? []
        site.tokens = try tokens?.verifier(files)
        if let order { site.order = order }
        if let lowestAssurance { site.lowestAssurance = lowestAssurance }
        return site
    }
}

extension PassConfiguration.AppleVAS {
    fileprivate func reader(_ files: PassKeyFiles) throws(PassConfigurationError) -> AppleVASReader {
        var merchants: [AppleVASMerchant] = []
        for kind in passes {
            var keys: [AppleVASKey] = []
            for name in kind.keys { keys.append(try files.key(name, .curve) { AppleVASKey(pem: $0) }) }
            merchants.append(AppleVASMerchant(passTypeIdentifier: kind.passTypeIdentifier, keys: keys))
        }
        return AppleVASReader(merchants, allowsVariant: triesVariant ?? false)
    }
}

extension PassConfiguration.SmartTap {
    fileprivate func reader(_ files: PassKeyFiles) throws(PassConfigurationError) -> SmartTapReader? {
        let (collector, version) = (UInt32(clamping: collector), UInt32(clamping: keyVersion))
        if let key {
            return SmartTapReader(
                key: try files.key(key, .curve) { SmartTapKey(pem: $0, collectorID: collector, version: version) }
            )
        }
        guard let preSigned else { return nil }
        let signature = try files.key(preSigned, .preSignature) { text in
            SmartTapPreSignature(text: text).flatMap {
                $0.collectorID == collector && $0.version == version ? $0 : nil
            }
        }
        return SmartTapReader(preSigned: signature)
    }
}

extension PassConfiguration.SigningTags {
    fileprivate func site(_ files: PassKeyFiles) throws(PassConfigurationError) -> SDMSite {
        var meta: SecretKey?
        if let metaReadKey { meta = try files.key(metaReadKey, .tag) { SecretKey(text: $0.trimmed) } }
        let file = try files.key(fileReadKey, .tag) { SecretKey(text: $0.trimmed) }
        let keys =
            diversification.map { SDMKeys(metaRead: meta, master: file, diversification: $0) }
            ?? SDMKeys(metaRead: meta, fileRead: file)
        let verifier = SDMVerifier(layout: layout, keys: keys)
        return SDMSite(host: host, path: path ?? "", verifier: verifier, identity: identity ?? .uid)
    }
}

extension PassConfiguration.Tokens {
    fileprivate func verifier(_ files: PassKeyFiles) throws(PassConfigurationError) -> SignedTokenVerifier {
        var texts: [String] = []
        for name in keys { texts.append(try files.publicKeys(name)) }
        // One file after the other, so that it can be said which one is wrong.
        for (name, text) in zip(keys, texts) {
            do throws(SignedTokenVerifier.KeyFault) {
                _ = try SignedTokenVerifier(keys: [text])
            } catch {
                throw .badPublicKeys(files.path(of: name), error)
            }
        }
        do throws(SignedTokenVerifier.KeyFault) {
            return try SignedTokenVerifier(
                keys: texts,
                issuer: issuer,
                audience: audience,
                idClaim: idClaim ?? "sub",
                nameClaim: nameClaim ?? "name",
                leeway: .seconds(leewaySeconds ?? 60),
                requiresExpiry: requiresExpiry ?? false
            )
        } catch {
            throw .badPublicKeys("", error)
        }
    }
}
