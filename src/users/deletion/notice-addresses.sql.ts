import type { Db } from '../../database/handle.ts'
import { type RowOf, statement } from '../../database/statement.ts'

const SELECT_NOTICE_ADDRESSES = statement({
  takes: { userId: 'text' },
  returns: { email: 'text?', phoneNumber: 'text?', locale: 'text?' },
})`
  SELECT CASE WHEN "emailVerified" THEN "emailKey" END AS "email",
    CASE WHEN "phoneNumberVerified" THEN "phoneNumberKey" END AS "phoneNumber", "locale"
  FROM "User" WHERE "tenantId" = :tenant AND "id" = :userId`

export type NoticeAddresses = RowOf<typeof SELECT_NOTICE_ADDRESSES>

/** The verified addresses of a user, in the form that is sent to, and the locale; null when the user does not exist. */
export const selectNoticeAddresses = (db: Db, userId: string): Promise<NoticeAddresses | null> =>
  db.one(SELECT_NOTICE_ADDRESSES, { userId })
