import { AsyncPipe } from '@angular/common'
import { Component, inject } from '@angular/core'
import { OidcSecurityService } from 'angular-auth-oidc-client'

@Component({
  selector: 'app-root',
  imports: [AsyncPipe],
  template: `
    @if ((auth.userData$ | async)?.userData; as user) {
      <p>Signed in as {{ user.email }}</p>
    } @else {
      <button (click)="auth.authorize()">Sign in</button>
    }
  `,
})
export class App {
  auth = inject(OidcSecurityService)

  ngOnInit() {
    this.auth.checkAuth().subscribe()
  }
}
