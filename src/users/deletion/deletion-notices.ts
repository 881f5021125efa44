import { describeRequestSource } from '../../access/request-source.ts'
import type { Ctx } from '../../context/context.ts'
import { env } from '../../core/env.ts'
import {
  buildDeletedNotice,
  buildDeletionCanceledNotice,
  buildDeletionNotice,
} from '../../delivery/messages/account-deletion.ts'
import type { NoticeAddresses } from './notice-addresses.sql.ts'
import { sendNotice, sendNoticeTo } from './send-notice.ts'

/** The path of the account page on which users keep their account, after the tenant. */
const DELETION_PATH = '/account/deletion'

/** Tells a user that the account will be deleted, and how to keep it. */
export const announceDeletion = (ctx: Ctx, userId: string, dueAt: Date, now: Date): void =>
  sendNotice(ctx, userId, (frame) =>
    buildDeletionNotice(frame, {
      dueAt,
      source: describeRequestSource(ctx, now),
      uri: `${env.baseUrl}/${ctx.tenant}${DELETION_PATH}`,
    }),
  )

/** Tells a user that the account will not be deleted. */
export const announceDeletionCanceled = (ctx: Ctx, userId: string, now: Date): void =>
  sendNotice(ctx, userId, (frame) =>
    buildDeletionCanceledNotice(frame, {
      source: describeRequestSource(ctx, now),
      uri: `${env.baseUrl}/${ctx.tenant}/account`,
    }),
  )

/** Tells a user who is deleted so, at the addresses that the user had. */
export const sendDeletedNotice = (ctx: Ctx, addresses: NoticeAddresses | null): void =>
  sendNoticeTo(ctx, async () => addresses, buildDeletedNotice)
