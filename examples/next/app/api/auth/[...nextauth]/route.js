import NextAuth from 'next-auth'

const handler = NextAuth({
  providers: [
    {
      id: 'vestibule',
      name: 'Vestibule',
      type: 'oauth',
      wellKnown: `${process.env.ISSUER}/.well-known/openid-configuration`,
      clientId: process.env.CLIENT_ID,
      clientSecret: process.env.CLIENT_SECRET,
      authorization: { params: { scope: 'openid email profile' } },
      client: { id_token_signed_response_alg: 'ES256' },
      idToken: true,
      checks: ['pkce', 'state'],
      userinfo: { request: ({ client, tokens }) => client.userinfo(tokens.access_token) },
      profile: ({ sub, name, email }) => ({ id: sub, name, email }),
    },
  ],
})

export { handler as GET, handler as POST }
