import type { MailPart, MessageTenant } from '../mail-content.ts'
import { cleanName } from '../names.ts'
import { composeSms } from '../sms-segment.ts'

/** A code that is sent, and how long it is accepted. */
export type SentCode = { tenant: MessageTenant; code: string; lifetimeMinutes: number }

const describeLifetime = (minutes: number): string => `It can be used once and expires in ${minutes} minutes.`

/** The code in a mail, below a sentence that says where to enter it. */
export const createCodeParts = (lead: string, { code, lifetimeMinutes }: SentCode): MailPart[] => [
  { kind: 'text', text: lead },
  { kind: 'code', text: code },
  { kind: 'text', text: describeLifetime(lifetimeMinutes) },
]

/** Builds a text message in which the code comes first, where a notification shows it. */
export function buildCodeSms({ tenant, code, lifetimeMinutes }: SentCode, purpose: string): string {
  const lead = (name?: string) => `${code} is your code ${purpose} ${name}.`
  return composeSms(
    [cleanName(tenant.name)],
    [
      { keep: 20, write: (name) => `${lead(name)} ${describeLifetime(lifetimeMinutes)}` },
      { keep: 1, write: lead },
    ],
  )
}
