import type { OAuthError } from '../errors.ts'
import { sendAnswer } from './authorize/response-modes.routes.ts'
import { errorAnswer, type ResponseTarget } from './authorize/response-modes.ts'
import type { Call } from './call.routes.ts'

/** Answers a refusal through the browser, as briefly as the RFC wants it, and tells the log why. */
export async function sendRefusal(call: Call, target: ResponseTarget, error: OAuthError): Promise<Response> {
  await call.tellRefusal(error)
  return sendAnswer(errorAnswer(call.ctx.tenant, target, error.error, error.message))
}
