import { env } from '../env.ts'

/** A message that was kept instead of sent. */
export type InboxMessage = {
  to: string
  channel: 'email' | 'sms'
  sentAt: Date
  subject?: string | null
  body: string
}

const MAX_MESSAGES = 100
const kept: InboxMessage[] = []

/**
 * Where development's messages go: memory (the last 100) and the console. Written to stdout directly, because the
 * log never holds a code.
 */
export function keepMessage(message: InboxMessage): void {
  kept.unshift(message)
  kept.length = Math.min(kept.length, MAX_MESSAGES)
  if (!env.isTest)
    process.stdout.write(
      `\n[${message.channel} to ${message.to}] ${message.subject ?? ''}\n${message.body.trimEnd()}\n\n`,
    )
}

/** The kept messages, newest first; only those to one address when given. */
export function listInbox(to?: string | null): InboxMessage[] {
  const wanted = to?.trim().toLowerCase()
  return wanted ? kept.filter((message) => message.to.toLowerCase() === wanted) : [...kept]
}
