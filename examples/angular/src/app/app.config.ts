import type { ApplicationConfig } from '@angular/core'
import { provideAuth } from 'angular-auth-oidc-client'

export const appConfig: ApplicationConfig = {
  providers: [
    provideAuth({
      config: {
        authority: 'http://localhost:3000/demo',
        clientId: 'your-client-id',
        redirectUrl: 'http://localhost:4200/callback',
        scope: 'openid email profile',
        responseType: 'code',
      },
    }),
  ],
}
