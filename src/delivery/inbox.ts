import { env } from '../core/env.ts'

/** A message that was stored instead of sent. */
export type InboxMessage = {
  to: string
  channel: 'email' | 'sms'
  sentAt: Date
  subject?: string | null
  body: string
}

const MAX_MESSAGES = 100
const messages: InboxMessage[] = []

/**
 * Stores a message of a development server in memory (the last 100) and prints it. It is written to stdout
 * directly, because the log never contains a code.
 */
export function addInboxMessage(message: InboxMessage): void {
  messages.unshift(message)
  messages.length = Math.min(messages.length, MAX_MESSAGES)
  if (!env.isTest)
    process.stdout.write(
      `\n[${message.channel} to ${message.to}] ${message.subject ?? ''}\n${message.body.trimEnd()}\n\n`,
    )
}

/** The stored messages, newest first; with `to`, only those to one address. */
export function listInboxMessages(to?: string | null): InboxMessage[] {
  const wanted = to?.trim().toLowerCase()
  return wanted ? messages.filter((message) => message.to.toLowerCase() === wanted) : [...messages]
}
