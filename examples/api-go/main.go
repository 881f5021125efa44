package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

func main() {
	provider, err := oidc.NewProvider(context.Background(), os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	audience, err := url.Parse(os.Getenv("AUDIENCE"))
	if err != nil {
		log.Fatal(err)
	}
	// It compares the audience of the token with this API.
	verifier := provider.Verifier(&oidc.Config{ClientID: audience.String()})

	// handle answers requests whose token has the permission; "" is none.
	handle := func(path, permission string, answer func(http.ResponseWriter, *oidc.IDToken)) {
		http.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			raw, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			token, err := verifier.Verify(r.Context(), raw)
			var claims struct{ Permissions []string }
			if err == nil {
				err = token.Claims(&claims)
			}
			if err != nil {
				w.Header().Set("WWW-Authenticate", "Bearer")
				http.Error(w, err.Error(), http.StatusUnauthorized)
				return
			}
			if permission != "" && !slices.Contains(claims.Permissions, permission) {
				http.Error(w, "This needs the permission "+permission+".", http.StatusForbidden)
				return
			}
			answer(w, token)
		})
	}
	handle("/me", "", func(w http.ResponseWriter, token *oidc.IDToken) { fmt.Fprintf(w, `{"sub":%q}`, token.Subject) })
	handle("/orders", "orders:read", func(w http.ResponseWriter, _ *oidc.IDToken) { fmt.Fprint(w, `[{"id":1}]`) })

	log.Fatal(http.ListenAndServe(":"+audience.Port(), nil))
}
