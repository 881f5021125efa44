import { randomUUID } from 'node:crypto'
import { env } from '../core/env.ts'

/** A message that was stored instead of sent. */
export type InboxMessage = {
  to: string
  channel: 'email' | 'sms'
  sentAt: Date
  subject?: string | null
  body: string
  /** The HTML of a mail. */
  html?: string
}

/** A stored message with its id. */
export type StoredMessage = InboxMessage & { id: string }

const MAX_MESSAGES = 100
const messages: StoredMessage[] = []

/**
 * Stores a message of a development server in memory (the last 100) and prints it. It is written to stdout
 * directly, because the log never contains a code.
 */
export function addInboxMessage(message: InboxMessage): void {
  messages.unshift({ ...message, id: randomUUID() })
  messages.length = Math.min(messages.length, MAX_MESSAGES)
  if (!env.isTest)
    process.stdout.write(
      `\n[${message.channel} to ${message.to}] ${message.subject ?? ''}\n${message.body.trimEnd()}\n\n`,
    )
}

/** The stored messages, newest first; with `to`, only those to one address. */
export function listInboxMessages(to?: string | null): StoredMessage[] {
  const wanted = to?.trim().toLowerCase()
  return wanted ? messages.filter((message) => message.to.toLowerCase() === wanted) : [...messages]
}

/** A stored message; null when it is gone. */
export const findInboxMessage = (id: string): StoredMessage | null =>
  messages.find((message) => message.id === id) ?? null
