/** How one claim is asked for (OIDC Core, section 5.5.1); null is the default manner. */
export type ClaimRequest = { essential?: boolean; value?: unknown; values?: unknown[] } | null

/** A checked claims parameter (OIDC Core, section 5.5): what is asked for in userinfo and in the ID token. */
export type ClaimsRequest = { userinfo: Record<string, ClaimRequest>; id_token: Record<string, ClaimRequest> }
