import { initContextCache } from '@pothos/core'
import type { ExecutionResult } from 'graphql'
import { isAsyncIterable } from 'graphql-yoga'
import { type Count, Counts } from '../../core/counts.ts'
import { AppError } from '../../core/errors.ts'
import { toAppError } from '../../core/to-app-error.ts'
import { decodePosition, encodePosition, type Position } from '../../model/event-position.ts'
import type { GraphQLContext } from '../context.ts'
import { toGraphQLError } from '../error-masking.ts'
import { Loaders } from '../loaders.ts'
import { addStreamExtensions } from './result-text.ts'
import { createShareKey } from './share-key.ts'
import {
  canJoin,
  leaveExecution,
  type Member,
  openExecution,
  type SharedExecution,
  type SharedOperation,
} from './shared-execution.ts'
import type { StreamTransport } from './stream.ts'

/** The open streams of each key. */
const streamCounts = new Counts()

const START: Position = { era: 0, xid: 0n, seq: 0n }
const DONE = { done: true, value: undefined } as const
type Step = IteratorResult<ExecutionResult, undefined>

/** Drops what the context keeps of the rows that it has read: a stream may wait for hours. */
function releaseRows(context: GraphQLContext): void {
  context.loaders = new Loaders(context.ctx.db)
  Object.assign(context, initContextCache())
}

/**
 * The results of a subscription, each with its position. While another stream has the same key, both share one
 * execution, which delivers its results apart from this generator. A stream executes alone until it has reached the
 * shared execution, and while its reader is slow. It ends at once when it is aborted or the client disconnects, even
 * while the source waits; an error that it is aborted with is its last result.
 *
 * A stream that shares an execution keeps one promise and no suspended function: thousands of them wait for hours.
 */
export class SubscriptionStream implements AsyncGenerator<ExecutionResult, undefined>, Member {
  readonly #operation: SharedOperation
  readonly #count: Count
  /** The results of its own execution; null while it shares one. */
  #results: AsyncGenerator<ExecutionResult> | null
  #execution: SharedExecution | null = null
  #isDone = false
  /** Resolves the result of `next`, while one is awaited. */
  #resolve: ((step: Step) => void) | null = null
  /** The position of the last result that the shared execution has delivered. */
  position = START

  constructor(operation: SharedOperation, results: AsyncGenerator<ExecutionResult>) {
    const { args, context } = operation
    this.#operation = operation
    this.#count = streamCounts.add(createShareKey(args, context))
    this.#results = results
    context.stream.stop.signal.addEventListener('abort', this, { once: true })
  }

  get requestId(): string {
    return this.#operation.context.ctx.requestId
  }

  get transport(): StreamTransport {
    return this.#operation.context.stream.transport as StreamTransport
  }

  next(): Promise<Step> {
    if (this.#isDone) return Promise.resolve(DONE)
    if (this.#operation.context.stream.stop.signal.aborted) return Promise.resolve(this.#endAborted())
    return new Promise((resolve) => {
      this.#resolve = resolve
      void this.#run(async () => (await this.#join()) || (await this.#pull()))
    })
  }

  async return(): Promise<typeof DONE> {
    this.#finish()
    this.#answer(DONE)
    return DONE
  }

  throw(): Promise<typeof DONE> {
    return this.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  /** Called by the signal of the stream. */
  handleEvent(): void {
    if (!this.#isDone && this.#resolve) this.#answer(this.#endAborted())
  }

  /** Continues alone, unless the stream has ended. */
  onLeave(): void {
    this.#execution = null
    if (!this.#isDone) void this.#run(() => this.#resume())
  }

  #answer(step: Step): void {
    const resolve = this.#resolve
    this.#resolve = null
    resolve?.(step)
  }

  #answerResult(result: ExecutionResult): void {
    this.#answer({ done: false, value: addStreamExtensions(result, this.#operation.context) })
  }

  /** Takes a step whose error ends the stream. */
  async #run(step: () => Promise<unknown>): Promise<void> {
    try {
      await step()
    } catch (error) {
      if (!this.#isDone) this.#answer(this.#endWithError(toAppError(error)))
    }
  }

  /** Joins the execution of its key, if there is one that it can join. */
  async #join(): Promise<boolean> {
    const { context } = this.#operation
    if (this.#count.open === 1 || !context.stream.transport) return false
    const execution = await openExecution(this.#count.key, this.#operation)
    if (this.#isDone) return true
    this.position = decodePosition(context.stream.position ?? '')
    if (!execution || !canJoin(execution, this.position)) return false
    this.#execution = execution
    execution.members.add(this)
    const results = this.#results
    this.#results = null
    releaseRows(context)
    await results?.return(undefined)
    return true
  }

  async #pull(): Promise<void> {
    const step = await this.#results?.next()
    if (this.#isDone) return
    if (step && !step.done) return this.#answerResult(step.value)
    this.#finish()
    this.#answer(DONE)
  }

  /** Executes the subscription for this stream alone, from its position on. */
  async #resume(): Promise<void> {
    const { args, context, subscribe } = this.#operation
    context.stream.lastEventId = encodePosition(this.position)
    const resumed = await subscribe(args)
    if (!isAsyncIterable(resumed)) return this.#answerResult(resumed as ExecutionResult)
    this.#results = resumed as AsyncGenerator<ExecutionResult>
    if (this.#isDone) await this.#results.return(undefined)
    else await this.#pull()
  }

  #finish(): void {
    if (this.#isDone) return
    this.#isDone = true
    streamCounts.subtract(this.#count)
    if (this.#execution) leaveExecution(this.#execution, this)
    // The source ends with the signal; its pending result is dropped.
    this.#operation.context.stream.stop.abort()
    this.#results?.return(undefined).catch(() => undefined)
  }

  #endAborted(): Step {
    const { reason } = this.#operation.context.stream.stop.signal
    if (reason instanceof AppError) return this.#endWithError(reason)
    this.#finish()
    return DONE
  }

  #endWithError(reason: AppError): Step {
    this.#finish()
    return { done: false, value: { errors: [toGraphQLError(reason, this.requestId)] } }
  }
}
