# A static binary in an image that holds nothing else, run by nobody in particular.
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /source
COPY . .
RUN cargo build --release --locked

FROM scratch
COPY --from=build /source/target/release/sqslint /usr/local/bin/sqslint
USER 65534:65534
WORKDIR /src
ENTRYPOINT ["/usr/local/bin/sqslint"]
CMD ["check"]
