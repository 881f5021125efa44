/** SQL of a sign-in that a token comes from, and of the address of the device that uses the token; null where another machine does. */
type SignInSql = { authenticatedAt: string; amr: string; deviceIp: string }

/** The method of a sign-in, by the authentication methods that its grant has; see sessions/proofs.ts. */
const buildMethodSql = (amr: string): string =>
  `CASE WHEN 'fed' = ANY (${amr}) THEN 'provider' WHEN 'pwd' = ANY (${amr}) THEN 'password'
      WHEN ${amr} && ARRAY['hwk', 'swk', 'pop'] THEN 'passkey' ELSE 'passcode' END`

/**
 * The first demand of the organization `o`, a `PolicyRule`, that a sign-in does not satisfy; null for none. A sign-in that
 * is not known satisfies none.
 */
export const buildUnmetRuleSql = ({ authenticatedAt, amr, deviceIp }: SignInSql): string => `CASE
    WHEN o."sessionLifetimeSeconds" IS NOT NULL
      AND (${authenticatedAt} + make_interval(secs => o."sessionLifetimeSeconds") > now()) IS NOT TRUE THEN 'sessionLifetimeSeconds'
    WHEN o."requireSecondFactor" AND (${amr} && ARRAY['mfa', 'hwk', 'swk', 'pop']) IS NOT TRUE THEN 'requireSecondFactor'
    WHEN cardinality(o."signInMethods") > 0 AND (${buildMethodSql(amr)} = ANY (o."signInMethods")) IS NOT TRUE THEN 'signInMethods'
    WHEN cardinality(o."allowedNetworks") > 0 AND ${deviceIp} IS NOT NULL
      AND (CAST(${deviceIp} AS inet) <<= ANY (CAST(o."allowedNetworks" AS inet[]))) IS NOT TRUE THEN 'allowedNetworks'
  END`
