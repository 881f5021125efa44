import { formatWait } from '../../languages/waiting-time.ts'
import type { MailPart, MessageFrame } from '../mail-content.ts'
import { cleanName } from '../names.ts'
import { composeSms } from '../sms-segment.ts'

/** A code that is sent, and how long it is accepted. */
export type SentCode = MessageFrame & { code: string; lifetimeMinutes: number }

/** How long a code is accepted, as it follows "in". */
export const formatMinutes = ({ lifetimeMinutes, words }: SentCode): string =>
  formatWait(lifetimeMinutes * 60, words)

const describeLifetime = (given: SentCode): string =>
  given.words.text('message.lifetime', { wait: formatMinutes(given) })

/** The code in a mail, below a sentence that says where to enter it. */
export const createCodeParts = (lead: string, given: SentCode): MailPart[] => [
  { kind: 'text', text: lead },
  { kind: 'code', text: given.code },
  { kind: 'text', text: describeLifetime(given) },
]

/** Builds a text message in which the code comes first, where a notification shows it. */
export function buildCodeSms(given: SentCode, key: 'sms.code' | 'sms.addressCode'): string {
  const { tenant, words, code } = given
  const lead = (name = '') => words.text(key, { code, tenant: name })
  return composeSms([cleanName(tenant.name)], words.direction, [
    { keep: 20, write: (name) => `${lead(name)} ${describeLifetime(given)}` },
    { keep: 1, write: lead },
    { keep: 0, write: () => words.text('sms.codeOnly', { code }) },
  ])
}
