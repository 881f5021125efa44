-- Streams of shared signals (OpenID SSF 1.0), the events that wait for their receivers, and what providers may signal.
CREATE TABLE "SignalStream" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "delivery" TEXT COLLATE "C" NOT NULL,
    "url" TEXT COLLATE "C",
    "authorization" TEXT COLLATE "C",
    "description" TEXT COLLATE "C",
    "eventsRequested" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "allUsers" BOOLEAN NOT NULL DEFAULT false,
    "status" TEXT COLLATE "C" NOT NULL DEFAULT 'enabled',
    "statusReason" TEXT COLLATE "C",
    "failingSince" TIMESTAMPTZ(3),
    "lastError" TEXT COLLATE "C",
    "acceptedAt" TIMESTAMPTZ(3),
    "verifiedAt" TIMESTAMPTZ(3),
    "position" TEXT COLLATE "C" NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "SignalStream_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "SignalStream_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT "SignalStream_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "SignalStream_tenantId_clientId_idx" ON "SignalStream"("tenantId", "clientId");
CREATE TRIGGER "SignalStream_tenant" BEFORE UPDATE OF "tenantId" ON "SignalStream" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "SignalToken" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "streamId" TEXT COLLATE "C" NOT NULL,
    "number" BIGSERIAL NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "subject" TEXT COLLATE "C" NOT NULL,
    "body" TEXT COLLATE "C" NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "SignalToken_pkey" PRIMARY KEY ("tenantId","id"),
    CONSTRAINT "SignalToken_tenantId_streamId_fkey" FOREIGN KEY ("tenantId", "streamId") REFERENCES "SignalStream"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "SignalToken_tenantId_streamId_subject_number_idx" ON "SignalToken"("tenantId", "streamId", "subject", "number");
CREATE INDEX "SignalToken_tenantId_streamId_number_idx" ON "SignalToken"("tenantId", "streamId", "number");
CREATE INDEX "SignalToken_nextAt_idx" ON "SignalToken"("nextAt");
CREATE INDEX "SignalToken_expiresAt_idx" ON "SignalToken"("expiresAt");
CREATE TRIGGER "SignalToken_tenant" BEFORE UPDATE OF "tenantId" ON "SignalToken" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE TABLE "SignalSubject" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "streamId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "included" BOOLEAN NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),

    CONSTRAINT "SignalSubject_pkey" PRIMARY KEY ("tenantId","streamId","userId"),
    CONSTRAINT "SignalSubject_tenantId_streamId_fkey" FOREIGN KEY ("tenantId", "streamId") REFERENCES "SignalStream"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "SignalSubject_expiresAt_idx" ON "SignalSubject"("expiresAt");
CREATE TRIGGER "SignalSubject_tenant" BEFORE UPDATE OF "tenantId" ON "SignalSubject" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

-- The log has no addresses: the former one of a change is kept for the streams, where there are any.
CREATE TABLE "FormerAddress" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "xid" BIGINT NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "former" TEXT COLLATE "C" NOT NULL,
    "current" TEXT COLLATE "C",
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "FormerAddress_pkey" PRIMARY KEY ("tenantId","userId","xid","kind"),
    CONSTRAINT "FormerAddress_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT
);
CREATE INDEX "FormerAddress_expiresAt_idx" ON "FormerAddress"("expiresAt");
CREATE TRIGGER "FormerAddress_tenant" BEFORE UPDATE OF "tenantId" ON "FormerAddress" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

CREATE FUNCTION keep_former_address() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "FormerAddress" ("tenantId", "userId", "xid", "kind", "former", "current", "expiresAt")
    SELECT NEW."tenantId", NEW."id", ((pg_current_xact_id())::text)::bigint, a."kind", a."former", a."current", now() + interval '7 days'
    FROM (VALUES ('email', OLD."email", NEW."email"), ('phone', OLD."phoneNumber", NEW."phoneNumber")) AS a("kind", "former", "current")
    WHERE a."former" IS NOT NULL AND a."former" IS DISTINCT FROM a."current"
      AND EXISTS (SELECT FROM "SignalStream" s WHERE s."tenantId" = NEW."tenantId" AND s."status" <> 'disabled')
    ON CONFLICT ("tenantId", "userId", "xid", "kind") DO UPDATE SET "current" = EXCLUDED."current";
    RETURN NULL;
END $$;
CREATE TRIGGER "User_former_address" AFTER UPDATE OF "email", "phoneNumber" ON "User" FOR EACH ROW
    WHEN (OLD."email" IS DISTINCT FROM NEW."email" OR OLD."phoneNumber" IS DISTINCT FROM NEW."phoneNumber")
    EXECUTE FUNCTION keep_former_address();

ALTER TABLE "IdentityProvider" ADD COLUMN "signalsIssuer" TEXT COLLATE "C", ADD COLUMN "signalsSecretHash" TEXT COLLATE "C";
ALTER TABLE "IdpUser" ADD COLUMN "disabledAt" TIMESTAMPTZ(3);
