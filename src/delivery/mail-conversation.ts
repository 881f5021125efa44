/**
 * Connects to a mail server, begins TLS where the server offers it and authenticates as `url` says, without a mail. Each
 * step takes `limitMs` at most. Rejects with the error of nodemailer.
 */
export async function converseWithMailServer(
  url: string,
  limitMs: number,
): Promise<{ isEncrypted: boolean; isAuthenticated: boolean }> {
  const [{ createTransport }, { default: Connection }] = await Promise.all([
    import('nodemailer'),
    import('nodemailer/lib/smtp-connection'),
  ])
  const { options } = createTransport({
    url,
    connectionTimeout: limitMs,
    greetingTimeout: limitMs,
    socketTimeout: limitMs,
  }).transporter as unknown as { options: { auth?: { user: string; pass: string } } }
  const connection = new Connection(options as object)
  try {
    return await new Promise((resolve, reject) => {
      connection.once('error', reject)
      connection.once('end', () => reject(Object.assign(new Error('ended'), { code: 'ECONNECTION' })))
      connection.connect(() => {
        const isEncrypted = Boolean(connection.secure)
        if (!options.auth) return resolve({ isEncrypted, isAuthenticated: false })
        connection.login({ credentials: options.auth } as never, (error) =>
          error ? reject(error) : resolve({ isEncrypted, isAuthenticated: true }),
        )
      })
    })
  } finally {
    connection.on('error', () => {})
    connection.close()
  }
}
