# A static binary, with git for --staged and --since, run as an unprivileged user.
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /source
COPY Cargo.toml Cargo.lock sqslint.schema.json ./
COPY crates crates
COPY src src
COPY rules rules
RUN cargo build --profile dist --locked

FROM alpine:3
# Mounted repositories belong to another user.
RUN apk add --no-cache git && git config --system --add safe.directory '*'
COPY --from=build /source/target/dist/sqslint /usr/local/bin/sqslint
USER 65534:65534
WORKDIR /src
ENTRYPOINT ["/usr/local/bin/sqslint"]
CMD ["check"]
