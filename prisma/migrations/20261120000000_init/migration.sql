-- Text compares bytewise everywhere (COLLATE "C"): identifiers and keys never depend on the locale of the
-- operating system, and keyset predicates use the primary key's index.

-- The cluster that the log was last written in. migrate.ts starts a new era when it finds another cluster.
CREATE TABLE "_vestibule_cluster" (
    "id" BOOLEAN NOT NULL DEFAULT true CHECK ("id"),
    "systemIdentifier" TEXT NOT NULL,
    "era" INTEGER NOT NULL,

    CONSTRAINT "_vestibule_cluster_pkey" PRIMARY KEY ("id")
);

CREATE FUNCTION event_era() RETURNS INTEGER LANGUAGE sql STABLE
    AS $$ SELECT "era" FROM "_vestibule_cluster" $$;

-- CreateTable
CREATE TABLE "Tenant" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "friendlyName" TEXT COLLATE "C",
    "logoUrl" TEXT COLLATE "C",
    "defaultAudience" TEXT COLLATE "C",
    "loginUrl" TEXT COLLATE "C",
    "supportUrl" TEXT COLLATE "C",
    "tokenKey" TEXT COLLATE "C" NOT NULL,
    "eventsTrimmedTo" TEXT COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Tenant_pkey" PRIMARY KEY ("tenantId")
);

-- CreateTable
CREATE TABLE "User" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C",
    "givenName" TEXT COLLATE "C",
    "familyName" TEXT COLLATE "C",
    "middleName" TEXT COLLATE "C",
    "nickname" TEXT COLLATE "C",
    "preferredUsername" TEXT COLLATE "C",
    "profile" TEXT COLLATE "C",
    "picture" TEXT COLLATE "C",
    "website" TEXT COLLATE "C",
    "email" TEXT COLLATE "C",
    "emailKey" TEXT COLLATE "C",
    "emailVerified" BOOLEAN NOT NULL DEFAULT false,
    "gender" TEXT COLLATE "C",
    "birthdate" TEXT COLLATE "C",
    "zoneinfo" TEXT COLLATE "C",
    "locale" TEXT COLLATE "C",
    "phoneNumber" TEXT COLLATE "C",
    "phoneNumberKey" TEXT COLLATE "C",
    "phoneNumberVerified" BOOLEAN NOT NULL DEFAULT false,
    "locked" BOOLEAN NOT NULL DEFAULT false,
    "lockedAt" TIMESTAMPTZ(3),
    "addressFormatted" TEXT COLLATE "C",
    "addressStreetAddress" TEXT COLLATE "C",
    "addressLocality" TEXT COLLATE "C",
    "addressRegion" TEXT COLLATE "C",
    "addressPostalCode" TEXT COLLATE "C",
    "addressCountry" TEXT COLLATE "C",
    "userMetadata" JSONB NOT NULL DEFAULT '{}',
    "appMetadata" JSONB NOT NULL DEFAULT '{}',
    "roles" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "lastSeenAt" TIMESTAMPTZ(3),
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "User_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "Session" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C",
    "kind" TEXT COLLATE "C" NOT NULL,
    "parentId" TEXT COLLATE "C",
    "grantId" TEXT COLLATE "C",
    "tokenHash" BYTEA NOT NULL,
    "previousTokenHash" BYTEA,
    "rotatedAt" TIMESTAMPTZ(3),
    "refreshable" BOOLEAN NOT NULL DEFAULT false,
    "authenticatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "amr" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "byManagement" BOOLEAN NOT NULL DEFAULT false,
    "lastSeenAt" TIMESTAMPTZ(3),
    "lastSeenIp" TEXT COLLATE "C",
    "lastSeenLocation" TEXT COLLATE "C",
    "userAgent" TEXT COLLATE "C",
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "endReason" TEXT COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Session_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "Credential" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL DEFAULT 'public-key',
    "externalId" TEXT COLLATE "C" NOT NULL,
    "publicKey" TEXT COLLATE "C",
    "signCount" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "byManagement" BOOLEAN NOT NULL DEFAULT false,
    "deviceHash" TEXT COLLATE "C",
    "deviceSwVersion" TEXT COLLATE "C",
    "deviceMobile" BOOLEAN,
    "devicePlatform" TEXT COLLATE "C",
    "deviceArchitecture" TEXT COLLATE "C",
    "deviceBitness" TEXT COLLATE "C",
    "deviceModel" TEXT COLLATE "C",
    "devicePlatformVersion" TEXT COLLATE "C",
    "deviceUaBrand" TEXT COLLATE "C",
    "deviceUaVersion" TEXT COLLATE "C",
    "deviceLastSeenIp" TEXT COLLATE "C",
    "deviceLastSeenAt" TIMESTAMPTZ(3),
    "lastUsedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Credential_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "EnrollmentToken" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "tokenHash" BYTEA NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL DEFAULT 'public-key',
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "EnrollmentToken_pkey" PRIMARY KEY ("tenantId","tokenHash")
);

-- CreateTable
CREATE TABLE "Passcode" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "address" TEXT COLLATE "C" NOT NULL,
    "channel" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C",
    "codeHash" BYTEA,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "sentAt" TIMESTAMPTZ(3) NOT NULL,
    "sendCount" INTEGER NOT NULL DEFAULT 0,
    "sendWindowAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failureCount" INTEGER NOT NULL DEFAULT 0,
    "failureWindowAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Passcode_pkey" PRIMARY KEY ("tenantId","address")
);

-- CreateTable
CREATE TABLE "IdentityProvider" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C",
    "clientSecret" TEXT COLLATE "C",
    "scopes" TEXT COLLATE "C",
    "issuer" TEXT COLLATE "C",
    "authorizationEndpoint" TEXT COLLATE "C",
    "tokenEndpoint" TEXT COLLATE "C",
    "userInfoEndpoint" TEXT COLLATE "C",
    "jwksUri" TEXT COLLATE "C",
    "idTokenSigningAlg" TEXT COLLATE "C",
    "idTokenSigningKey" TEXT COLLATE "C",
    "platformTeamId" TEXT COLLATE "C",
    "platformKid" TEXT COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "IdentityProvider_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "IdpUser" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "idpId" TEXT COLLATE "C" NOT NULL,
    "issuer" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "externalId" TEXT COLLATE "C" NOT NULL,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "byManagement" BOOLEAN NOT NULL DEFAULT false,
    "lastLoginAt" TIMESTAMPTZ(3),
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "IdpUser_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "Client" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C",
    "appType" TEXT COLLATE "C" NOT NULL,
    "themeColor" TEXT COLLATE "C",
    "logoUrl" TEXT COLLATE "C",
    "callbacks" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "allowedOrigins" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "webOrigins" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "allowedLogoutUrls" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "initiateLoginUrl" TEXT COLLATE "C",
    "tokenExpiryTime" INTEGER,
    "requireConsent" BOOLEAN NOT NULL DEFAULT false,
    "type" TEXT COLLATE "C" NOT NULL,
    "scopes" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "jwks" JSONB,
    "allTenants" BOOLEAN NOT NULL DEFAULT false,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Client_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "ClientSecret" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "secretHash" BYTEA NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ClientSecret_pkey" PRIMARY KEY ("tenantId","secretHash")
);

-- CreateTable
CREATE TABLE "SigningKey" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "alg" TEXT COLLATE "C" NOT NULL,
    "publicJwk" JSONB NOT NULL,
    "privateKey" TEXT COLLATE "C" NOT NULL,
    "activeAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "SigningKey_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "Interaction" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "handleHash" BYTEA NOT NULL,
    "browserHash" BYTEA NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "request" JSONB NOT NULL,
    "progress" JSONB NOT NULL DEFAULT '{}',
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Interaction_pkey" PRIMARY KEY ("tenantId","handleHash")
);

-- CreateTable
CREATE TABLE "AuthorizationCode" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "codeHash" BYTEA NOT NULL,
    "grantId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "sessionId" TEXT COLLATE "C" NOT NULL,
    "redirectUri" TEXT COLLATE "C" NOT NULL,
    "codeChallenge" TEXT COLLATE "C",
    "nonce" TEXT COLLATE "C",
    "scopes" TEXT[] COLLATE "C",
    "resources" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "authenticatedAt" TIMESTAMPTZ(3) NOT NULL,
    "amr" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "AuthorizationCode_pkey" PRIMARY KEY ("tenantId","codeHash")
);

-- CreateTable
CREATE TABLE "Grant" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "sessionId" TEXT COLLATE "C",
    "scopes" TEXT[] COLLATE "C",
    "resources" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "offline" BOOLEAN NOT NULL DEFAULT false,
    "secretHash" BYTEA,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "rotatedAt" TIMESTAMPTZ(3),
    "authenticatedAt" TIMESTAMPTZ(3) NOT NULL,
    "amr" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "idleExpiresAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "revokedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Grant_pkey" PRIMARY KEY ("tenantId","id")
);

-- CreateTable
CREATE TABLE "Consent" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "scopes" TEXT[] COLLATE "C",
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Consent_pkey" PRIMARY KEY ("tenantId","userId","clientId")
);

-- CreateTable
CREATE TABLE "Event" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "era" INTEGER NOT NULL DEFAULT event_era(),
    "xid" BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text)::bigint,
    "seq" BIGSERIAL NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "occurredAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actorTenantId" TEXT COLLATE "C",
    "actorUserId" TEXT COLLATE "C",
    "actorClientId" TEXT COLLATE "C",
    "ip" TEXT COLLATE "C",
    "requestId" TEXT COLLATE "C",
    "userId" TEXT COLLATE "C",
    "sessionId" TEXT COLLATE "C",
    "subjectIds" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "changedFields" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[],
    "detail" JSONB,

    CONSTRAINT "Event_pkey" PRIMARY KEY ("tenantId","era","xid","seq")
);

-- CreateTable
CREATE TABLE "UserCount" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "slot" INTEGER NOT NULL,
    "users" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "UserCount_pkey" PRIMARY KEY ("tenantId","slot")
);

-- CreateIndex
CREATE UNIQUE INDEX "User_email_key" ON "User"("tenantId", "emailKey");

-- CreateIndex
CREATE UNIQUE INDEX "User_phoneNumber_key" ON "User"("tenantId", "phoneNumberKey");

-- CreateIndex
CREATE INDEX "Session_tenantId_userId_id_idx" ON "Session"("tenantId", "userId", "id");

-- CreateIndex
CREATE INDEX "Session_tenantId_clientId_idx" ON "Session"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "Session_tenantId_parentId_idx" ON "Session"("tenantId", "parentId");

-- CreateIndex
CREATE INDEX "Session_tenantId_grantId_idx" ON "Session"("tenantId", "grantId");

-- CreateIndex
CREATE INDEX "Session_tenantId_previousTokenHash_idx" ON "Session"("tenantId", "previousTokenHash");

-- CreateIndex
CREATE INDEX "Session_expiresAt_idx" ON "Session"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "Session_token_key" ON "Session"("tenantId", "tokenHash");

-- CreateIndex
CREATE INDEX "Credential_tenantId_userId_id_idx" ON "Credential"("tenantId", "userId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Credential_externalId_key" ON "Credential"("tenantId", "externalId");

-- CreateIndex
CREATE INDEX "EnrollmentToken_tenantId_userId_idx" ON "EnrollmentToken"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "EnrollmentToken_expiresAt_idx" ON "EnrollmentToken"("expiresAt");

-- CreateIndex
CREATE INDEX "Passcode_tenantId_userId_idx" ON "Passcode"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "Passcode_failureWindowAt_idx" ON "Passcode"("failureWindowAt");

-- CreateIndex
CREATE UNIQUE INDEX "IdpUser_user_idp_key" ON "IdpUser"("tenantId", "userId", "idpId");

-- CreateIndex
CREATE UNIQUE INDEX "IdpUser_external_key" ON "IdpUser"("tenantId", "idpId", "issuer", "externalId");

-- CreateIndex
CREATE INDEX "ClientSecret_tenantId_clientId_idx" ON "ClientSecret"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "Interaction_expiresAt_idx" ON "Interaction"("expiresAt");

-- CreateIndex
CREATE INDEX "AuthorizationCode_tenantId_userId_idx" ON "AuthorizationCode"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "AuthorizationCode_expiresAt_idx" ON "AuthorizationCode"("expiresAt");

-- CreateIndex
CREATE INDEX "Grant_tenantId_userId_idx" ON "Grant"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "Grant_tenantId_sessionId_idx" ON "Grant"("tenantId", "sessionId");

-- CreateIndex
CREATE INDEX "Grant_tenantId_clientId_idx" ON "Grant"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "Grant_expiresAt_idx" ON "Grant"("expiresAt");

-- CreateIndex
CREATE INDEX "Consent_tenantId_clientId_idx" ON "Consent"("tenantId", "clientId");

-- CreateIndex
CREATE INDEX "Event_tenantId_userId_idx" ON "Event"("tenantId", "userId");

-- CreateIndex
CREATE INDEX "Event_occurredAt_idx" ON "Event"("occurredAt");

-- AddForeignKey
ALTER TABLE "User" ADD CONSTRAINT "User_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Credential" ADD CONSTRAINT "Credential_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "EnrollmentToken" ADD CONSTRAINT "EnrollmentToken_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Passcode" ADD CONSTRAINT "Passcode_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "IdentityProvider" ADD CONSTRAINT "IdentityProvider_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "IdpUser" ADD CONSTRAINT "IdpUser_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "IdpUser" ADD CONSTRAINT "IdpUser_tenantId_idpId_fkey" FOREIGN KEY ("tenantId", "idpId") REFERENCES "IdentityProvider"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Client" ADD CONSTRAINT "Client_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "ClientSecret" ADD CONSTRAINT "ClientSecret_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "SigningKey" ADD CONSTRAINT "SigningKey_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Grant" ADD CONSTRAINT "Grant_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Grant" ADD CONSTRAINT "Grant_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- A code is used once and a grant refreshed often: with room in the page, neither touches an index (HOT).
ALTER TABLE "AuthorizationCode" SET (fillfactor = 70);
ALTER TABLE "Grant" SET (fillfactor = 80);

-- Rows never move between tenants, whoever writes.
CREATE FUNCTION refuse_tenant_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."tenantId" IS DISTINCT FROM OLD."tenantId" THEN
        RAISE EXCEPTION 'a row of "%" cannot move to another tenant', TG_TABLE_NAME USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

DO $$
DECLARE t TEXT;
BEGIN
    FOR t IN SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'tenantId' LOOP
        EXECUTE format('CREATE TRIGGER "%s_tenant" BEFORE UPDATE OF "tenantId" ON %I FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change()', t, t);
    END LOOP;
END $$;

-- The number of users of a tenant, exact and constant-time: one counter row per tenant and slot, written once
-- a statement. Writers of one tenant meet in one slot only where their backends' numbers do.
CREATE FUNCTION count_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "UserCount" ("tenantId", "slot", "users")
    SELECT "tenantId", pg_backend_pid() % 8, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
    FROM changed GROUP BY "tenantId"
    ON CONFLICT ("tenantId", "slot") DO UPDATE SET "users" = "UserCount"."users" + EXCLUDED."users";
    RETURN NULL;
END $$;

CREATE TRIGGER "User_count_insert" AFTER INSERT ON "User" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_users();
CREATE TRIGGER "User_count_delete" AFTER DELETE ON "User" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_users();
