import { setTimeout } from 'node:timers/promises'
import { seal, unseal } from '../core/crypto.ts'
import { log } from '../core/log.ts'
import { deliverInBackground } from './background.ts'

/** How a message reaches a person. */
export type DeliveryChannel = 'email' | 'sms'

/** The mail server and the gateway of a tenant. What is null is that of the deployment. Secrets are sealed. */
export type OwnServers = {
  tenant: string
  mailServer: string | null
  mailServerUser: string | null
  mailServerPassword: string | null
  smsGatewayUrl: string | null
  smsGatewayToken: string | null
  mailFailingSince: Date | null
  smsFailingSince: Date | null
}

export type ServerSecret = 'mailServerPassword' | 'smsGatewayToken'

/** The purpose of a sealed secret. Moved to another tenant, it cannot be decrypted. */
export const toServerSecretPurpose = (tenant: string, name: ServerSecret): string =>
  `tenant:${tenant}:${name}`
export const sealServerSecret = (tenant: string, name: ServerSecret, secret: string): string =>
  seal(toServerSecretPurpose(tenant, name), secret)
/** Returns '' for a secret that is not stored. Throws UnsealError. */
export const unsealServerSecret = (servers: OwnServers, name: ServerSecret): string =>
  servers[name] === null ? '' : unseal(toServerSecretPurpose(servers.tenant, name), servers[name]).toString()

/** A conversation with a server of a tenant that failed. The message says how, for administrators of the tenant. */
export class ConversationError extends Error {
  /** Whether the server fails, as opposed to a recipient that it rejects. */
  readonly isFault: boolean
  constructor(outcome: string, isFault = true) {
    super(outcome)
    this.name = 'ConversationError'
    this.isFault = isFault
  }
}

let recordOutcome:
  | ((tenant: string, channel: DeliveryChannel, isFailing: boolean) => Promise<void>)
  | undefined
/** Sets the function that records that a server begins to fail, or answers again, so that delivery knows no tenants. */
export const setOutcomeRecorder = (record: typeof recordOutcome): void => {
  recordOutcome = record
}

function reportOutcome(servers: OwnServers, channel: DeliveryChannel, isFailing: boolean): void {
  const failingSince = channel === 'email' ? servers.mailFailingSince : servers.smsFailingSince
  if (isFailing !== (failingSince !== null))
    deliverInBackground(async () => recordOutcome?.(servers.tenant, channel, isFailing))
}

/** A tenant has so many conversations with its servers at a time in a process, and so many that wait. */
const MAX_RUNNING = 4
const MAX_WAITING = 100
const queues = new Map<string, { running: number; waiting: (() => void)[] }>()

/** Waits for a place among the conversations of the tenant; false without one until the signal. The returned function leaves it. */
async function takePlace(tenant: string, signal: AbortSignal): Promise<(() => void) | null> {
  const queue = queues.get(tenant) ?? { running: 0, waiting: [] }
  queues.set(tenant, queue)
  const leave = (): void => {
    const next = queue.waiting.shift()
    if (next) next()
    else queue.running -= 1
    if (queue.running === 0) queues.delete(tenant)
  }
  if (queue.running < MAX_RUNNING) {
    queue.running += 1
    return leave
  }
  if (queue.waiting.length >= MAX_WAITING) return null
  return new Promise((resolve) => {
    const enter = (): void => {
      signal.removeEventListener('abort', giveUp)
      resolve(leave)
    }
    const giveUp = (): void => {
      queue.waiting.splice(queue.waiting.indexOf(enter), 1)
      resolve(null)
    }
    queue.waiting.push(enter)
    signal.addEventListener('abort', giveUp, { once: true })
  })
}

/** A person waits for the message; the place, both attempts and the pause between them end within this time. */
const CONVERSATION_MS = 10_000
const PAUSE_MS = 500

/**
 * Has a conversation with a server of a tenant: twice, when the first attempt fails at the server, and within 10 s
 * altogether. Other tenants never wait for it. Resolves with its outcome in words. Throws ConversationError.
 */
export async function converse(
  servers: OwnServers,
  channel: DeliveryChannel,
  attempt: (signal: AbortSignal) => Promise<string>,
): Promise<string> {
  const signal = AbortSignal.timeout(CONVERSATION_MS)
  const leave = await takePlace(servers.tenant, signal)
  try {
    if (!leave) throw new ConversationError('Other messages wait for the server.')
    const outcome = await attempt(signal).catch(async (error: unknown) => {
      if (signal.aborted || !(error instanceof ConversationError) || !error.isFault) throw error
      await setTimeout(PAUSE_MS)
      return attempt(signal)
    })
    reportOutcome(servers, channel, false)
    return outcome
  } catch (error) {
    if (!(error instanceof ConversationError) && !signal.aborted) throw error
    const failed =
      error instanceof ConversationError && !signal.aborted
        ? error
        : new ConversationError('The server did not answer within 10 seconds.')
    log.warn({ tenant: servers.tenant, channel, isFault: failed.isFault }, 'a server of a tenant failed')
    if (failed.isFault) reportOutcome(servers, channel, true)
    throw failed
  } finally {
    leave?.()
  }
}
