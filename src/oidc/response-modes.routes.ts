import { seeOther } from './answers.routes.ts'
import { withParameters } from './redirect-uris.ts'
import type { AuthorizationAnswer, ResponseMode } from './response-modes.ts'

type Send = (answer: AuthorizationAnswer, cookies: string[]) => Response

/** A new response mode is one line here, and one in RESPONSE_MODES. */
const SENDERS: Record<ResponseMode, Send> = {
  query: ({ redirectUri, parameters }, cookies) => seeOther(withParameters(redirectUri, parameters), cookies),
}

/** Sends an authorization response on its way through the browser. */
export const sendAnswer = (answer: AuthorizationAnswer, cookies: string[] = []): Response =>
  SENDERS[answer.responseMode](answer, cookies)
