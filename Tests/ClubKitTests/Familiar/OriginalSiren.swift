/// The original library of Siren APIs, item by item.
extension OriginalAPI {
    static let siren = [
        OriginalItem(
            "`LPMSirenSessionManager`, `initWithBaseURL:manifestPath:sessionConfiguration:`",
            "`SirenClient(baseURL:manifestPath:session:transport:store:)`; the product LPMSirenKit has the original's name. The transport is passed in: `HTTPTransport` of SirenHTTP, or another",
            "SirenClientTests.theManifestIsFound",
            "OriginalNamesTests.manifestAndLinks"
        ),
        OriginalItem(
            "`GETManifestWithParameters:completion:`",
            "`manifest(parameters:)`; in LPMSirenKit `GETManifest(withParameters:completion:)`",
            "SirenClientTests.theManifestHasParameters",
            "OriginalNamesTests.manifestAndLinks"
        ),
        OriginalItem(
            "`GETLink:withParameters:completion:error:`",
            "`follow(_:parameters:)`, templates (RFC 6570) too; in LPMSirenKit `GETLink(_:withParameters:completion:)`",
            "SirenClientTests.linksAreFollowed",
            "OriginalNamesTests.manifestAndLinks"
        ),
        OriginalItem(
            "`GETLinkForRelationship:ofEntityWithGUID:withParameters:completion:error:`",
            "`follow(rel:ofEntityWithGUID:parameters:)`: goes by what is kept alone. In LPMSirenKit it is `async` and throws at once what the original put into `error`",
            "SirenClientTests.whatIsKeptIsFollowedByRelation",
            "OriginalNamesTests.whatIsNotKeptIsNotRequested"
        ),
        OriginalItem(
            "`HTTPActionWithSirenAction:withParameters:completion:error:`",
            "`submit(_:parameters:)`; in LPMSirenKit `HTTPAction(with:withParameters:completion:)`",
            "SirenClientTests.actionsAreSubmitted",
            "OriginalNamesTests.valuesAreOfTheirFieldsTypes"
        ),
        OriginalItem(
            "`HTTPActionWithName:onEntityWithGUID:withParameters:completion:error:`",
            "`submit(actionNamed:onEntityWithGUID:parameters:)`: goes by what is kept alone; in LPMSirenKit `HTTPAction(withName:onEntityWithGUID:withParameters:completion:)`",
            "SirenClientTests.actionsAreSubmitted",
            "OriginalNamesTests.whatIsKeptIsFoundByTheMapping"
        ),
        OriginalItem(
            "The `NSURLSessionDataTask` that requests return",
            "Each call ends when its task is cancelled; LPMSirenKit returns an `LPMSirenTask` with `cancel()`",
            "SirenMannersTests.callsEndWithTheirTasks",
            "OriginalNamesTests.requestsAreCancelled"
        ),
        OriginalItem(
            "`authorizationHeaderValue`",
            "Can be changed at any time, and goes to the manifest's origin alone",
            "SirenClientTests.theAuthorizationChanges",
            "SirenClientTests.secretsStayWithTheirOrigin"
        ),
        OriginalItem(
            "`SirenKitError_ErrorCode_LinkNotFound`, `SirenKitError_ErrorCode_ActionNotFound`, `SirenKitError_ErrorCode_FieldTypeMismatch`",
            "`SirenRequestError.linkNotFound`, `actionNotFound` and `fieldTypeMismatch`; in LPMSirenKit the codes of an `LPMSirenKitError`, which is an `NSError`",
            "OriginalNamesTests.whatIsNotKeptIsNotRequested",
            "OriginalNamesTests.valuesAreOfTheirFieldsTypes"
        ),
        OriginalItem(
            "`LPMSirenSessionStore`, `setGUIDMappingDictionary:`",
            "`SirenGUIDMapping`, of a session; in LPMSirenKit under the original's name, for managers that are created afterwards",
            "SirenGUIDTests.entitiesAreKnownByTheirMapping",
            "OriginalNamesTests.whatIsKeptIsFoundByTheMapping"
        ),
        OriginalItem(
            "Paths: `properties.orderNumber`, `href`, `sirenLinks[0].href`, `[@attr=value]`, `[@attr~value]`",
            "`SirenPath`, with both the original's names and those of the documents",
            "SirenGUIDTests.pathsLeadToValues"
        ),
        OriginalItem(
            "`LPMSirenEntityModel`, `LPMSirenLinkModel`, `LPMSirenActionModel`, `LPMSirenFieldModel`",
            "`SirenEntity`, `SirenLink`, `SirenAction` and `SirenField`: values; in LPMSirenKit under the original's names too",
            "SirenDocumentTests.allOfTheOrderIsThere",
            "OriginalNamesTests.manifestAndLinks"
        ),
        OriginalItem(
            "Parameters: what has no field, or a hidden one, is dropped",
            "The same, and `SirenAnswer.dropped` lists it",
            "SirenFormTests.whatIsNotSentIsTold",
            "OriginalNamesTests.valuesAreOfTheirFieldsTypes"
        ),
        OriginalItem(
            "The cache of entities, links, actions and fields, without properties",
            "`SirenStore`: in memory, or with `FileSirenStore` of SirenCache in a file",
            "SirenStoreTests.propertiesAreNeverKept",
            "SirenCacheTests.aClientGoesOnAfterARestart"
        ),
        OriginalItem(
            "`ManagedSirenEntity`, `ManagedSirenLink`, `ManagedSirenField`, `ManagedSirenAction`",
            declined: "there is no Core Data on Linux. `SirenRecord` is what is kept, as a value"
        ),
        OriginalItem(
            "Types of AFNetworking and Mantle",
            declined: "they are for Apple's systems. `SirenTransport` carries requests, `SirenDocument` reads documents"
        ),
    ]
}

extension OriginalDefects {
    static let siren = [
        OriginalItem(
            "1. Links and actions that are kept have no age",
            "They become stale as the server states, which the answer reports; `refresh` asks whether they hold",
            "SirenStoreTests.freshnessIsTheServers",
            "SirenStoreTests.whatIsKeptIsRefreshed"
        ),
        OriginalItem(
            "2. A key of the mapping fits the text of all classes, in their order",
            "It fits each entity that has all its classes; the largest wins, and a tie is reported",
            "SirenGUIDTests.theLargestMatchWins",
            "SirenGUIDTests.tiesAreTold"
        ),
        OriginalItem(
            "3. Only numbers and URLs are checked",
            "All nineteen types are, and every constraint",
            "SirenFormTests.everyTypeIsChecked",
            "SirenFormTests.everyConstraintIsChecked"
        ),
        OriginalItem(
            "4. Unknown keys and overrides of hidden fields vanish without a word",
            "The answer lists them, with the reason",
            "SirenFormTests.whatIsNotSentIsTold"
        ),
        OriginalItem(
            "5. Nothing is said of encodings, queries of GET, and files",
            "Queries, forms, parts with files that are read while they are sent, JSON, and further encodings",
            "SirenFormTests.formsAreURLEncoded",
            "SirenFormTests.encodingsAreRegistered"
        ),
        OriginalItem(
            "6. Nothing is said of embedded links, relative references, and what is no Siren",
            "Links to related entities are followed as others are, references are resolved, and every kind of answer has its result",
            "SirenClientTests.anEntityHasAbsoluteReferences",
            "SirenClientTests.resultsAreClear"
        ),
        OriginalItem(
            "7. The authorization goes wherever a link leads",
            "It never leaves the manifest's origin, over redirects, links and actions",
            "SirenClientTests.secretsStayWithTheirOrigin",
            "HTTPTransportTests.secretsStayWithTheirOrigin"
        ),
    ]
}
