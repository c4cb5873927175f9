import ClubRecords

extension MessageRouter {
    /// Registers a processor for its type, behind those that are registered for it. One that is registered already keeps
    /// its place.
    @discardableResult
    public func register<Processor: MessageProcessor>(_ processor: Processor.Type) -> ProcessorRegistration {
        register(processor) { Processor() }
    }

    /// Registers a processor that needs something to be made of.
    ///
    /// - Parameter make: makes one for each message. What it throws fails the message. Of a type that is registered
    ///   already it replaces the former one, in the same place.
    @discardableResult
    public func register<Processor: MessageProcessor>(
        _ processor: Processor.Type,
        make: @escaping @Sendable () throws -> Processor
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(processor, make: make)
        return guarded.withLock { $0.processors.register(entry) }
    }

    /// Registers a closure for messages of a type, behind those that are registered for it.
    ///
    /// ```swift
    /// router.register(type: "greeting") { (payload: Greeting.Payload, context) in .newData }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of its messages, compared exactly.
    ///   - sources: from where it takes messages; by default from everywhere but cards, which anybody can write.
    ///   - name: its name in results; by default the type.
    ///   - process: processes a message, as ``MessageProcessor/process(_:context:)``.
    @discardableResult
    public func register<Payload: Decodable & Sendable>(
        type: String,
        sources: Set<MessageSource.Kind> = MessageSource.Kind.allButCard,
        name: String? = nil,
        _ process: @escaping @Sendable (Payload, MessageContext) async throws -> ProcessingResult
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(type: type, sources: sources, name: name ?? type, process: process)
        return guarded.withLock { $0.processors.register(entry) }
    }

    /// Sets the processor that gets what nobody else took: messages of unknown types, without a type, and those that all
    /// others declined. There is one; its ``MessageProcessor/processorType`` is not looked at.
    @discardableResult
    public func setFallback<Processor: MessageProcessor>(
        _ processor: Processor.Type,
        make: @escaping @Sendable () throws -> Processor = { Processor() }
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(processor, make: make)
        return guarded.withLock { $0.processors.setFallback(entry) }
    }

    /// Sets a closure as the fallback.
    ///
    /// - Parameters:
    ///   - sources: from where it takes messages; by default from everywhere but cards.
    ///   - name: its name in results.
    ///   - process: processes a message; ``MessageContext/type`` says which type it has.
    @discardableResult
    public func setFallback<Payload: Decodable & Sendable>(
        sources: Set<MessageSource.Kind> = MessageSource.Kind.allButCard,
        name: String = "fallback",
        _ process: @escaping @Sendable (Payload, MessageContext) async throws -> ProcessingResult
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(type: "", sources: sources, name: name, process: process)
        return guarded.withLock { $0.processors.setFallback(entry) }
    }

    /// Takes a processor back, by its Swift type, also as the fallback. A message that it is processing is brought to its
    /// end.
    ///
    /// - Returns: whether it was registered.
    @discardableResult
    public func unregister<Processor: MessageProcessor>(_ processor: Processor.Type) -> Bool {
        let type = ObjectIdentifier(processor)
        return guarded.withLock { $0.processors.unregister { $0.swiftType == type } }
    }

    /// Takes one registration back, also of the fallback.
    ///
    /// - Returns: whether it was still there.
    @discardableResult
    public func unregister(_ registration: ProcessorRegistration) -> Bool {
        guarded.withLock { $0.processors.unregister { $0.registration == registration } }
    }
}
