import type { Env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { deliverMail } from '../../delivery/mail.ts'
import { converseWithMailServer } from '../../delivery/mail-conversation.ts'
import { connectSmsGateway, deliverSms } from '../../delivery/sms.ts'
import { type Finding, fail, ok, STEP_LIMIT_MS, warn } from './finding.ts'

const MAIL_ACTIONS: Record<string, string> = {
  EAUTH: 'Correct the user and the password of SMTP_URL.',
  ETLS: 'Correct the certificate of the mail server, or its name in SMTP_URL.',
}
const LOOPBACK = /^(localhost|127\.|\[?::1)/

/** Connects to the mail server, begins TLS and authenticates; no mail is sent. */
export async function checkMail(config: Env): Promise<Finding[]> {
  if (!config.smtpUrl)
    return [warn('smtp', 'not configured: mail is kept in the development inbox', 'Set SMTP_URL.')]
  try {
    const { isEncrypted, isAuthenticated } = await converseWithMailServer(config.smtpUrl, STEP_LIMIT_MS)
    const found = `answers, ${isEncrypted ? 'with' : 'without'} TLS, ${isAuthenticated ? 'accepts the user' : 'without a user'}`
    return [
      isEncrypted || LOOPBACK.test(new URL(config.smtpUrl).hostname)
        ? ok('smtp', found)
        : warn('smtp', found, 'Use smtps:// or a server that offers STARTTLS.'),
    ]
  } catch (error) {
    const { code = '', responseCode } = error as { code?: string; responseCode?: number }
    // The text of the server may quote what was sent to it.
    const reason = [code, responseCode].filter(Boolean).join(' ') || errorMessage(error)
    return [
      fail(
        'smtp',
        code === 'EAUTH' ? `does not accept the user: ${reason}` : `does not answer: ${reason}`,
        MAIL_ACTIONS[code] ?? 'Correct SMTP_URL, or start the mail server.',
      ),
    ]
  }
}

/** Connects to the gateway for text messages; no message is sent. */
export async function checkSms(config: Env): Promise<Finding[]> {
  if (!config.sms) return [ok('sms', 'not configured: codes by text message cannot be sent')]
  try {
    await connectSmsGateway(config, STEP_LIMIT_MS)
    return [ok('sms', 'answers')]
  } catch (error) {
    return [fail('sms', `does not answer: ${errorMessage(error)}`, 'Correct SMS_URL, or start the gateway.')]
  }
}

/** Sends one message to an e-mail address or to a number in E.164. */
export async function sendTestMessage(to: string): Promise<Finding[]> {
  const text = 'Vestibule can send messages. vestibule doctor sent this one.'
  try {
    await (to.includes('@')
      ? deliverMail({ to, subject: 'A message of vestibule doctor', text })
      : deliverSms({ to, body: text }))
    return [ok('message', `accepted for ${to}`)]
  } catch (error) {
    return [fail('message', errorMessage(error), 'See the row of smtp or sms.')]
  }
}
