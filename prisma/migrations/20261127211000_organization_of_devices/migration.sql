-- The organization that a device asks for, and the one that its user approved.
ALTER TABLE "DeviceCode" ADD COLUMN "organization" TEXT COLLATE "C", ADD COLUMN "organizationId" TEXT COLLATE "C";
