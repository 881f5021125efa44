import { setTimeout as sleep } from 'node:timers/promises'
import DataLoader from 'dataloader'
import { errorMessage } from '../../core/error-message.ts'
import { log } from '../../core/log.ts'
import { tracedAlone } from '../../core/requests/spans.ts'
import { type Db, Handle } from '../../database/handle.ts'
import { system } from '../../database/system.ts'
import type { ClaimedMessage, OutboxClaim } from './outbox.sql.ts'

/** The end of a message; null when there was nowhere to send it to. */
export type OutboxEnd<Answer> = { result: 'delivered' | 'failed'; answer: Answer } | null
/** An attempt after which others follow. An aborted one says nothing about the recipient. */
export type OutboxDelay<Answer> = { answer: Answer; pauseSeconds: number; isAborted: boolean }

/** A message and the answer by which its recipient accepted it. */
export type Acceptance<Message, Answer> = { message: Message; answer: Answer }

/** Messages that are sent to recipients outside, each until its recipient accepts it or it expires. */
export type Outbox<Message extends ClaimedMessage, Answer> = {
  /** The name in log lines. */
  name: string
  /** The statements of its table, as `declareOutbox` declares them. */
  store: {
    listen: (wake: () => void) => () => void
    claim: (system: Db, claim: OutboxClaim) => Promise<{ messages: Message[]; isPartial: boolean }>
    /** Ends a message, and records what it means. */
    finish: (db: Db, message: Message, end: OutboxEnd<Answer>) => Promise<void>
    /** Ends messages that their recipient, one for all, has accepted. Without it, each ends by itself. */
    accept?: (db: Db, accepted: Acceptance<Message, Answer>[]) => Promise<void>
    /** Postpones a message, unless another process has claimed it since. */
    postpone: (db: Db, message: Message, delay: OutboxDelay<Answer>) => Promise<void>
  }
  limits?: OutboxLimits
  /** Sends a message within 10 s. Null when there is nowhere to send it to. Never throws. */
  send: (message: Message, signal: AbortSignal) => Promise<Answer | null>
  isAccepted: (answer: Answer) => boolean
}

/**
 * Concurrent attempts of one process: in total, and per recipient. A tenant may have half of what the others leave, so that
 * slow recipients delay no other tenant.
 */
export type OutboxLimits = { total: number; perRecipient: number }
const LIMITS: OutboxLimits = { total: 32, perRecipient: 4 }
/** An attempt takes at most ten seconds. A process that has not finished by then is considered dead. */
const LEASE_SECONDS = 20
/** How often messages that other processes inserted, and postponed ones, are looked for. */
const POLL_MS = 3000
/** How long the places of attempts that ended are gathered, while others run: one claim fills them all. */
const GATHER_MS = 25
/** How long the messages that a recipient accepts are gathered: one statement ends them. */
const ACCEPT_MS = 5
/** How long running attempts may finish at shutdown. Aborted ones are repeated by another process. */
const SHUTDOWN_GRACE_MS = 3000

const FIRST_PAUSE_SECONDS = 2
const MAX_PAUSE_SECONDS = 3600

/**
 * The pause after an attempt: 2, 6, 18 seconds and so on, up to an hour, plus up to a quarter at random, so
 * that retries spread.
 */
export const computePauseSeconds = (attempts: number): number =>
  Math.min(FIRST_PAUSE_SECONDS * 3 ** (attempts - 1), MAX_PAUSE_SECONDS) * (1 + Math.random() / 4)

/** Returns the function that ends an accepted message, together with others of its recipient. */
function createAcceptor<Message extends ClaimedMessage, Answer>({ store }: Outbox<Message, Answer>) {
  const { accept } = store
  if (!accept)
    return ({ message, answer }: Acceptance<Message, Answer>): Promise<void> =>
      store.finish(new Handle({ tenant: message.tenantId }), message, { result: 'delivered', answer })

  const endBatch = async (batch: readonly Acceptance<Message, Answer>[]): Promise<(Error | undefined)[]> => {
    const byRecipient = new Map<string, Acceptance<Message, Answer>[]>()
    for (const each of batch) {
      const { tenantId, recipientId } = each.message
      const key = `${tenantId} ${recipientId}`
      byRecipient.set(key, [...(byRecipient.get(key) ?? []), each])
    }
    const errors = new Map<Acceptance<Message, Answer>, Error>()
    await Promise.all(
      [...byRecipient.values()].map((accepted) =>
        accept(new Handle({ tenant: accepted[0]?.message.tenantId ?? '' }), accepted).catch(
          (error: Error) => {
            for (const each of accepted) errors.set(each, error)
          },
        ),
      ),
    )
    return batch.map((each) => errors.get(each))
  }
  const loader = new DataLoader<Acceptance<Message, Answer>, void>(endBatch, {
    cache: false,
    batchScheduleFn: (send) => setTimeout(send, ACCEPT_MS),
  })
  return (accepted: Acceptance<Message, Answer>): Promise<void> => loader.load(accepted)
}

/** Attempts a message once: it ends when the recipient accepts it, or when it expires before the next attempt. */
async function attemptMessage<Message extends ClaimedMessage, Answer>(
  { name, store, send, isAccepted }: Outbox<Message, Answer>,
  endAccepted: (accepted: Acceptance<Message, Answer>) => Promise<void>,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const { tenantId, recipientId, attempts, expiresAt } = message
  const db = new Handle({ tenant: tenantId })
  const answer = await send(message, signal)
  if (answer === null) return store.finish(db, message, null)
  if (isAccepted(answer)) return endAccepted({ message, answer })
  const facts: object = { outbox: name, tenant: tenantId, recipientId, attempts, ...answer }
  log.warn(facts, 'a message was not accepted')
  const pauseSeconds = computePauseSeconds(attempts)
  if (Date.now() + pauseSeconds * 1000 > expiresAt.getTime())
    return store.finish(db, message, { result: 'failed', answer })
  await store.postpone(db, message, { answer, pauseSeconds, isAborted: signal.aborted })
}

/**
 * Sends the messages of all tenants, whenever this process inserts some and every few seconds. The returned function
 * stops it and resolves when no attempt is running.
 */
export function startOutbox<Message extends ClaimedMessage, Answer>(
  outbox: Outbox<Message, Answer>,
): () => Promise<void> {
  const { limits = LIMITS } = outbox
  const endAccepted = createAcceptor(outbox)
  const running = new Map<Promise<void>, Message>()
  const abort = new AbortController()
  let timer: NodeJS.Timeout
  let gathering: NodeJS.Timeout | undefined
  let stopped = false
  let isDue = false
  let isClaiming = false
  let claiming = Promise.resolve()

  const startAttempt = (message: Message): void => {
    const facts = { 'vestibule.tenant': message.tenantId, 'vestibule.attempts': message.attempts }
    const attempt = tracedAlone(`delivery ${outbox.name}`, facts, () =>
      attemptMessage(outbox, endAccepted, message, abort.signal),
    )
      .catch((error: Error) =>
        log.warn({ outbox: outbox.name, err: error.message }, 'a message is postponed'),
      )
      .finally(() => {
        running.delete(attempt)
        if (running.size === 0) wake()
        else gathering ??= setTimeout(wake, GATHER_MS).unref()
      })
    running.set(attempt, message)
  }

  /** Ids of the recipients or tenants whose `own` messages reach the limit. */
  const listBusy = (ids: string[], isBusy: (own: number) => boolean): string[] =>
    [...new Set(ids)].filter((id) => isBusy(ids.filter((each) => each === id).length))

  const claimBatch = async (): Promise<void> => {
    let isPartial = true
    while (isPartial && !stopped && running.size < limits.total) {
      const { total, perRecipient } = limits
      const recipients = [...running.values()].map(({ recipientId }) => recipientId)
      const tenants = [...running.values()].map(({ tenantId }) => tenantId)
      const claimed = await outbox.store.claim(system, {
        total,
        perRecipient,
        recipients,
        tenants,
        exceptRecipients: listBusy(recipients, (own) => own >= perRecipient),
        exceptTenants: listBusy(tenants, (own) => 2 * (own + 1) > total - (running.size - own)),
        leaseSeconds: LEASE_SECONDS,
      })
      claimed.messages.forEach(startAttempt)
      isPartial = claimed.isPartial
    }
  }

  const claimAll = async (): Promise<void> => {
    isClaiming = true
    try {
      while (isDue && !stopped) {
        isDue = false
        await claimBatch()
      }
    } catch (error) {
      const err = errorMessage(error)
      if (!stopped) log.warn({ outbox: outbox.name, err }, 'cannot claim messages')
    } finally {
      isClaiming = false
    }
  }

  /** Claims what is due; when a claim is already running, once more after it. */
  const wake = (): void => {
    clearTimeout(gathering)
    gathering = undefined
    isDue = true
    if (!isClaiming && !stopped) claiming = claimAll()
  }

  const poll = (): void => {
    wake()
    // Random, so that processes do not poll at the same time.
    timer = setTimeout(poll, POLL_MS * (0.75 + Math.random() / 2)).unref()
  }

  const stopListening = outbox.store.listen(wake)
  poll()
  return async () => {
    stopped = true
    clearTimeout(timer)
    stopListening()
    await claiming
    const allDone = Promise.all(running.keys())
    await Promise.race([allDone, sleep(SHUTDOWN_GRACE_MS, undefined, { ref: false })])
    abort.abort()
    await allDone
  }
}
