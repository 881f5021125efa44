import type { MessageKey } from '../../languages/messages.ts'

/** A message that says what was done on an account page. */
export type Notice = Extract<MessageKey, `notice.${string}`>
