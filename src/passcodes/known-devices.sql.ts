import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'

/** As long as a cookie marks a browser as known. */
export const KNOWN_DEVICE_DAYS = 180
/** Devices of one address. */
const MAX_DEVICES = 12

const SELECT_KNOWN_DEVICE = statement({
  takes: { address: 'text', deviceId: 'text', origin: 'text', now: 'timestamptz' },
  returns: {
    /** A code that was sent for this device can be entered. */
    hasCode: 'boolean',
  },
})`
  SELECT EXISTS (
    SELECT FROM "Passcode" p
    WHERE p."tenantId" = :tenant AND p."address" = :address AND p."origin" = :origin
      AND p."codeHash" IS NOT NULL AND p."expiresAt" > :now
  ) AS "hasCode"
  FROM "KnownDevice" d JOIN "User" u ON u."tenantId" = :tenant AND u."id" = d."userId"
  WHERE d."tenantId" = :tenant AND d."address" = :address AND d."deviceId" = :deviceId
    AND d."provenAt" > :now - make_interval(days => ${KNOWN_DEVICE_DAYS})
    AND d."address" IN (u."emailKey", u."phoneNumberKey")`

/** Finds the device among those from which the owner of an address has proven it; null for any other. */
export const selectKnownDevice = (
  db: Db,
  device: { address: string; deviceId: string; origin: string; now: Date },
): Promise<RowOf<typeof SELECT_KNOWN_DEVICE> | null> => db.one(SELECT_KNOWN_DEVICE, { ...device })

// All parts see the rows as they were before.
const REMEMBER_DEVICE = statement({
  takes: { address: 'text', deviceId: 'text', userId: 'text', now: 'timestamptz' },
  returns: { isNew: 'boolean' },
})`
  WITH remembered AS (
    INSERT INTO "KnownDevice" ("tenantId", "address", "deviceId", "userId", "provenAt")
    VALUES (:tenant, :address, :deviceId, :userId, :now)
    ON CONFLICT ("tenantId", "address", "deviceId") DO UPDATE SET "userId" = EXCLUDED."userId", "provenAt" = EXCLUDED."provenAt"
  ), forgotten AS (
    DELETE FROM "KnownDevice" WHERE "tenantId" = :tenant AND "address" = :address AND "deviceId" IN (
      SELECT "deviceId" FROM "KnownDevice"
      WHERE "tenantId" = :tenant AND "address" = :address AND "deviceId" <> :deviceId
      ORDER BY "provenAt" DESC OFFSET ${MAX_DEVICES - 1}
    )
  )
  SELECT NOT EXISTS (
    SELECT FROM "KnownDevice"
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "deviceId" = :deviceId
      AND "provenAt" > :now - make_interval(days => ${KNOWN_DEVICE_DAYS})
  ) AS "isNew"`

/** Remembers a device that proved an address. Whether it is new to the user: one statement. */
export async function rememberDevice(
  db: Db,
  device: { address: string; deviceId: string; userId: string; now: Date },
): Promise<boolean> {
  const row = await db.one(REMEMBER_DEVICE, { ...device })
  return row?.isNew ?? false
}
