import { listUnknownVariables } from '../core/env.ts'
import { log } from '../core/log.ts'
import { openLocations } from '../core/network/ip-location.ts'
import { verifyMailServer } from '../delivery/mail.ts'

/**
 * Tries what the variables name. Throws when GEOIP_DB cannot be read. Warns of variables that look misspelled,
 * and in the background of a mail server that does not accept a connection, which may be back before it is
 * needed.
 */
export function checkConfiguration(): void {
  for (const warning of listUnknownVariables()) log.warn(warning)
  openLocations()
  void verifyMailServer().then((problem) => {
    if (problem) log.warn({ err: problem }, 'SMTP_URL: the mail server cannot be used')
  })
}
