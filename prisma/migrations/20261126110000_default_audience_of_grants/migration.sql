-- The default audience of the tenant when a grant was given, which its tokens reach without a resource.
ALTER TABLE "Grant" ADD COLUMN "defaultAudience" TEXT COLLATE "C";
ALTER TABLE "DeviceCode" ADD COLUMN "defaultAudience" TEXT COLLATE "C";

-- Grants and device codes of before keep what they reach.
UPDATE "Grant" g SET "defaultAudience" = t."defaultAudience" FROM "Tenant" t
WHERE t."defaultAudience" IS NOT NULL AND g."tenantId" = t."tenantId" AND g."revokedAt" IS NULL AND g."expiresAt" > now();
UPDATE "DeviceCode" d SET "defaultAudience" = t."defaultAudience" FROM "Tenant" t
WHERE t."defaultAudience" IS NOT NULL AND d."tenantId" = t."tenantId" AND d."expiresAt" > now();
