package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
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

	http.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		raw, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		token, err := verifier.Verify(r.Context(), raw)
		if err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"sub":%q}`, token.Subject)
	})

	log.Fatal(http.ListenAndServe(":"+audience.Port(), nil))
}
