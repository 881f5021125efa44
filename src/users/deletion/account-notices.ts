import { describeRequestSource } from '../../access/request-source.ts'
import type { Ctx } from '../../context/context.ts'
import { env } from '../../core/env.ts'
import { type AccountChange, buildAccountNotice } from '../../delivery/messages/account-changed.ts'
import { sendNotice } from './send-notice.ts'

/** The path of the account page on which a user sees and removes ways to sign in, after the tenant. */
const METHODS_PATH = '/account/sign-in-methods'

const isSelf = ({ actor }: Ctx, userId: string): boolean => actor.kind === 'user' && actor.userId === userId

/** Tells a user that a way to sign in was added or removed. Call it after the change was committed. */
export const announceAccountChange = (
  ctx: Ctx,
  userId: string,
  change: AccountChange,
  now = new Date(),
): void =>
  sendNotice(ctx, userId, (frame) =>
    buildAccountNotice(frame, {
      change,
      isByAdministrator: !isSelf(ctx, userId),
      source: describeRequestSource(ctx, now),
      uri: `${env.baseUrl}/${ctx.tenant}${METHODS_PATH}`,
    }),
  )
